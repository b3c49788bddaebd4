export * from './consumer.ts'
export * from './enqueuer.ts'
export * from './repair.ts'
export { readTask, type Task, taskId } from './task.ts'
