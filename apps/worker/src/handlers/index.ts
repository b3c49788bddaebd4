export * from './cache-refresh.ts'
export * from './daily-digest.ts'
export * from './package-report.ts'
export * from './settlement.ts'
