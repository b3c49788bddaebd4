export * from './consumer.ts'
export * from './enqueuer.ts'
export * from './repair.ts'
export { readTask, slotKeyOf, type Task, taskId } from './task.ts'
