import { defineConfig } from 'vite'

/** The page beside the built server, in `dist/page`: one script, one style sheet, no other host, no inline script. */
export default defineConfig({
  root: 'page',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: { outDir: '../dist/page', emptyOutDir: true, modulePreload: { polyfill: false }, assetsInlineLimit: 0 },
})
