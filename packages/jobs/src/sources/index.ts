export * from './keyset-page.ts'
export * from './package-source.ts'
export * from './scope-source.ts'
