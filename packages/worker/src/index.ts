export type { ChunkContext, ChunkTransactionOutcome } from './chunk-context.ts'
export { createWorker, type Worker, type WorkerHealth } from './create-worker.ts'
export type { DoneContext, RunSummary } from './done-summary.ts'
export type { EntityContext } from './entity-context.ts'
export type { CursorPage, EntitySource, PageRequest, SourceAnswer } from './entity-source.ts'
export { type EntityWork, type Handler, type HandlerInput, handle } from './handler.ts'
export { NonRetryableError, RetryLaterError, type RetryLaterOptions } from './handler-errors.ts'
export {
  type InThread,
  inThread,
  type ThreadCaller,
  type ThreadFacts,
  type ThreadFunction,
  type ThreadOptions,
} from './in-thread.ts'
export { LARGEST_ENTITY_BYTES } from './page-members.ts'
export type { RunSlot } from './run-slot.ts'
export type { Transaction, TransactionOutcome, TransactionRequest, TransactionTypes } from './transaction.ts'
export type { WorkerOptions } from './worker-options.ts'
export * from './worker-timing.ts'
