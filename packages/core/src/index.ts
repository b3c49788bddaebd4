export * from './clock.ts'
export * from './errors/catalogue.ts'
export * from './errors/cronce-error.ts'
export * from './random.ts'
