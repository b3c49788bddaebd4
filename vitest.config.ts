import { defineConfig } from 'vitest/config'

// Packages are tested from their sources, never from what was last built.
const conditions = ['@cronce/source', 'module', 'node', 'default']
// Node is given these as well, and has its own `import` and `require`: with `import` among them, a `require` of pg gets an ESM file.
const resolve = { resolve: { conditions }, ssr: { resolve: { conditions: ['@cronce/source', 'node'] } } }

const MINUTE_MS = 60_000

interface Tier {
  readonly name: string
  readonly include: readonly string[]
  /** How many files run at once; a tier of one file at a time has processes enough of its own. */
  readonly files?: number
  /** Pure tiers start no processes and answer within seconds. */
  readonly kind?: 'pure'
}

// In this order, one tier after the other: what is cheap fails first.
const TIERS: readonly Tier[] = [
  { name: 'unit', include: ['packages/*/src/**/*.test.ts', 'apps/*/src/**/*.test.ts'], kind: 'pure' },
  { name: 'schedule', include: ['test/schedule/**/*.test.ts'], kind: 'pure' },
  { name: 'workspace', include: ['test/workspace/**/*.test.ts'] },
  { name: 'contract', include: ['test/contract/**/*.test.ts'] },
  { name: 'integration', include: ['test/integration/**/*.test.ts'] },
  { name: 'fault', include: ['test/fault/**/*.test.ts'] },
  { name: 'simulation', include: ['test/simulation/**/*.test.ts'] },
  { name: 'browser', include: ['test/browser/**/*.test.ts'], files: 1 },
]

export default defineConfig({
  test: {
    passWithNoTests: true,
    globalSetup: 'test/support/process-census.ts',
    projects: TIERS.map(({ name, include, files = 2, kind }, order) => ({
      ...resolve,
      test: {
        name,
        include: [...include],
        maxWorkers: files,
        sequence: { groupOrder: order },
        retry: 0,
        testTimeout: kind === 'pure' ? MINUTE_MS / 3 : MINUTE_MS,
        hookTimeout: MINUTE_MS,
        teardownTimeout: MINUTE_MS / 4,
        setupFiles: kind === 'pure' ? [] : ['test/support/leave-nothing-running.ts'],
      },
    })),
  },
})
