import { parseSlotId } from '@cronce/core'
import { type TaskOutcome, taskId } from '@cronce/queue'
import { type ChunkStart, redisReceipts, startChunk } from '@cronce/store'
import type { AttemptScope } from './attempt.ts'
import { ChunkRun } from './chunk-run.ts'
import { createPatience } from './patience.ts'
import { acknowledge, handBackLater, type TaskInHand } from './run-progress.ts'
import { ChunkReceipts, orderFence } from './transaction.ts'

/** How many interrupted chunks are remembered: those that others took over are never asked for again. */
const MOST_INTERRUPTED = 1_000

/** A holder whose writes stay out for so many rechecks has lost its places under the job's limit. */
const RECHECKS_MISSED = 3

/** Where a worker finds the chunks in its hands, by task id. */
export type ChunksInHand = Map<string, ChunkRun>

/**
 * W4: runs one chunk, from its start to its settlement or hand-back.
 *
 * @throws what the store threw, where Redis failed for good: the task is tried again
 */
export async function runChunk(inHand: TaskInHand, chunks: ChunksInHand): Promise<TaskOutcome> {
  const { context, run, slot, task } = inHand
  const { store, executor, events, interrupted, shutdown, timing } = context
  const id = taskId(task)
  const token = interrupted.get(id) ?? context.token()
  const { handler } = inHand
  const start = await startChunk(store, run, {
    ...{ number: task.number, worker: executor.worker, token },
    // A call with the whole chunk is one call.
    width: handler.eachChunk === undefined ? handler.job.chunk.concurrency : 1,
    leaseMs: Math.max(timing.lockMs, RECHECKS_MISSED * timing.recheckMs),
  })
  // Nothing was taken, and whatever was held under this token before still is.
  if (start.status === 'later') return handBackLater(inHand, start.waitMs)
  interrupted.delete(id)
  if (start.status !== 'run') return acknowledge(inHand, start.status)
  if (start.crashed) events.emit('chunk.crashed', { slot, chunk: task.number, crashes: start.crashes })
  const scope = scopeOf(inHand, start, () => chunk.lose())
  const chunk = new ChunkRun(inHand, start, scope)
  // The one before may only have frozen: from here on it starts no effect. Without Postgres it starts none there anyway.
  if (start.crashed) await scope.chunkReceipts?.open().catch(() => undefined)
  chunks.set(id, chunk)
  const forget = shutdown.onPhase((phase) => chunk.shutDown(phase))
  try {
    return await chunk.execute()
  } catch (error) {
    // An outage is no crash: whoever takes it next under this token goes on as if it had never let go.
    interrupted.set(id, token)
    const [oldest] = interrupted.keys()
    if (interrupted.size > MOST_INTERRUPTED && oldest !== undefined) interrupted.delete(oldest)
    throw error
  } finally {
    forget()
    if (chunks.get(id) === chunk) chunks.delete(id)
  }
}

function scopeOf(
  inHand: TaskInHand,
  start: Pick<ChunkStart, 'fence' | 'effectiveAt' | 'cause' | 'startedAt'>,
  onFenced: () => void,
): AttemptScope {
  const { context, run, slot, task } = inHand
  const { store, postgres, clock, events, shutdown, timing, token } = context
  const hold = { ...run, chunk: task.number, fence: orderFence(start) }
  const at = parseSlotId(run.id)?.at ?? 0
  let log: ReturnType<AttemptScope['log']> | undefined
  return {
    receipts: postgres ?? redisReceipts(store),
    chunkReceipts: postgres && new ChunkReceipts(postgres, { ...hold, idleMs: inHand.handler.job.timeoutMs }),
    receiptFence: postgres === undefined ? start.fence : hold.fence,
    ...{ onFenced, clock, events, token, run, chunk: task.number, fence: start.fence, cause: start.cause },
    slot: { key: slot, job: run.job, at, effectiveAt: start.effectiveAt },
    leaseMs: timing.receiptLeaseMs,
    patience: createPatience({ clock, shutdown }),
    log: () => {
      log ??= context.log.child({ slot, chunk: task.number })
      return log
    },
  }
}
