export * from './create-service-metrics.ts'
export { SERVICE_METRICS } from './service-metrics.ts'
