import { defineConfig } from 'vitest/config'

const conditions = ['@cronce/source', 'module', 'node', 'import', 'default']
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: { include: ['test/workspace/*.test.ts'] },
})
