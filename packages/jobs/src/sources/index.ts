export * from './keyset-page.ts'
export * from './package-source.ts'
export * from './repeated-packages.ts'
export * from './scope-source.ts'
