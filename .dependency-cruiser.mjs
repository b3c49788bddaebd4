// What each package may use of the others, besides itself. Arrows point one way.
const LAYERS = {
  core: [],
  jobs: ['core'],
  store: ['core'],
  queue: ['core', 'store'],
  watchdog: ['core', 'store'],
  trigger: ['core', 'queue', 'store', 'watchdog'],
  worker: ['core', 'queue', 'store', 'watchdog'],
  operations: ['core', 'queue', 'store', 'watchdog'],
  cli: ['core', 'operations', 'store'],
  metrics: ['core', 'operations', 'store', 'watchdog'],
  process: ['core', 'watchdog'],
}

const TEST_FILE = '\\.test\\.ts$'
const SOURCES = '^(packages|apps)/'

// Whatever reaches outside the process.
const IO =
  'child_process|cluster|dgram|dns|fs|http|http2|https|inspector|net|os|process|readline|repl|tls|tty|worker_threads'

/** @param {string} names Matches them as they resolve, and as they are written where they do not. */
const externals = (names) => `(^|/node_modules/)(${names})(/|$)`

const layers = Object.entries(LAYERS).map(([name, used]) => ({
  name: `layer-${name}`,
  comment: `${name} may use ${used.join(', ') || 'no other package'}`,
  severity: 'error',
  from: { path: `^packages/${name}/`, pathNot: TEST_FILE },
  to: { path: '^packages/', pathNot: `^packages/(${[name, ...used].join('|')})/` },
}))

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...layers,
    {
      name: 'only-queue-imports-bullmq',
      severity: 'error',
      from: { path: SOURCES, pathNot: '^packages/queue/' },
      to: { path: externals('bullmq') },
    },
    {
      name: 'only-store-imports-ioredis-and-pg',
      severity: 'error',
      // An app makes the pool that it hands to a worker; what is done on it is the store's.
      from: { path: SOURCES, pathNot: '^packages/store/|^apps/worker/src/receipt-pool\\.ts$' },
      to: { path: externals('ioredis|pg|@types/pg') },
    },
    {
      name: 'only-apps-import-process',
      comment: 'a library takes no variables and no signals: its caller does',
      severity: 'error',
      from: { path: '^(packages|test)/', pathNot: '^packages/process/' },
      to: { path: '^packages/process/' },
    },
    {
      name: 'core-without-io',
      severity: 'error',
      from: { path: '^packages/core/src/', pathNot: TEST_FILE },
      to: { dependencyTypes: ['core'], path: `^(node:)?(${IO})(/|$)` },
    },
    {
      name: 'trigger-and-worker-apart',
      comment: 'a replica loads no handler, a worker no schedule; also in tests of the one',
      severity: 'error',
      from: { path: '^packages/(trigger|worker)/' },
      to: { path: '^packages/(trigger|worker)/', pathNot: '^packages/$1/' },
    },
    {
      name: 'no-deep-imports',
      comment:
        'other packages are imported by name, through what their exports offer, never by a path into their sources',
      severity: 'error',
      from: { path: '^((?:packages|apps)/[^/]+|test)/' },
      to: { dependencyTypes: ['local'], path: '^(packages|apps)/', pathNot: '^$1/' },
    },
    {
      name: 'nothing-imports-apps',
      severity: 'error',
      from: { path: '^((?:packages|apps)/[^/]+|test)/' },
      to: { path: '^apps/', pathNot: '^$1/' },
    },
    {
      name: 'production-without-test',
      severity: 'error',
      from: { path: SOURCES, pathNot: TEST_FILE },
      to: { path: ['^test/', TEST_FILE, externals('vitest|fast-check|testcontainers|playwright-core')] },
    },
    {
      name: 'no-cycles',
      comment: 'types may refer to each other: nothing is left of that when the code runs',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|\\.turbo)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    combinedDependencies: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@cronce/source', 'import', 'node', 'types', 'default'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json', '.node'],
    },
  },
}
