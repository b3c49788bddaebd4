import type { Cause, RunState } from '../run/run-state.ts'
import type { SlotKey } from '../slot/slot-key.ts'
import type { AlarmFacts } from './alarm-facts.ts'

/**
 * Every event that Cronce emits, with its facts. Names are in the past tense; instants are epoch ms, durations ms. Part of the
 * public API: `docs/events.md` is tested equal to it.
 */
export interface CronceEvents {
  /** A definition was registered: new, changed, or an edit of the schedule. */
  'job.registered': { job: string; status: 'registered' | 'same' | 'changed' | 'edited'; generation: number }
  /** A stored or registered definition cannot be used here; the other jobs go on. */
  'job.passed-over': { job: string; reason: string }
  /** This replica took a slot. */
  'slot.claimed': { slot: SlotKey; latenessMs: number }
  /** Another replica had it first. Normal, one per slot and losing replica. */
  'slot.lost': { slot: SlotKey; by: string }
  /** The overlap policy or its use-by dropped it, or it waits for the run before it. */
  'slot.held-up': { slot: SlotKey; verdict: 'skipped' | 'waiting' }
  /** The slot is on the queue; the ledger does not say so yet. */
  'slot.added': { slot: SlotKey; queue: string }
  /** The slot is on the queue and recorded. */
  'slot.enqueued': { slot: SlotKey; queue: string; latenessMs: number }
  /** The add surely failed; the claim was given back. */
  'slot.released': { slot: SlotKey; error: unknown }
  /** It is not known whether the add happened; the lease will end by itself. */
  'slot.unsure': { slot: SlotKey; error: unknown }
  /** Slots of an outage that will not run. */
  'slots.cut': {
    job: string
    state: 'missed' | 'skipped' | 'abandoned'
    reason: string
    count: number
    fromAt: number
    toAt: number
  }
  /** Slots of an outage that will. */
  'slots.admitted': { job: string; count: number }
  /** Lost work was added again. */
  'work.readded': { job: string; count: number }
  /** One pass over what is due. */
  'tick.finished': { due: number; claimed: number; lost: number; tookMs: number; lateMs: number }
  /** A tick could not reach the store; what it would have fired is known here only. */
  'tick.failed': { error: unknown; dueSlots: readonly SlotKey[] }
  /** The store cannot be reached; told once until it is again. */
  'store.lost-touch': { error: unknown }
  /** The store is in reach again. */
  'store.reached': { afterMs: number }
  /** The store lost writes that it had acknowledged: it is another, or behind what this replica remembers. */
  'store.lost-writes': { job: string; reason: 'new epoch' | 'lower watermark' }
  /** This clock and Redis's differ by more than the bound. */
  'clock.skewed': { skewMs: number }
  /** The trigger began to fire. */
  'trigger.started': { replica: string; jobs: number }
  /** The trigger ended, and closed what it had opened. */
  'trigger.stopped': { replica: string }

  /** A worker started a run for the first time. */
  'run.started': { slot: SlotKey; cause: Cause; latenessMs: number }
  /** A page of the plan is written as a chunk; the chunk is not on the queue yet. */
  'chunk.written': { slot: SlotKey; chunk: number }
  /** The chunk is on the queue. */
  'chunk.added': { slot: SlotKey; chunk: number }
  /** The last page of the plan is written. */
  'run.planned': { slot: SlotKey; chunks: number }
  /** The source threw; the step is tried again unless it is out of attempts. */
  'plan.failed': { slot: SlotKey; error: unknown; attempt: number; final: boolean }
  /** A worker took a chunk, with so many entities left to do. */
  'chunk.started': { slot: SlotKey; chunk: number; entities: number }
  /** Its last holder died. */
  'chunk.crashed': { slot: SlotKey; chunk: number; crashes: number }
  /** The chunk's outcomes are written. */
  'chunk.settled': { slot: SlotKey; chunk: number; done: number; dead: number; abandoned: number; tookMs: number }
  /** The chunk goes back to the queue, and is taken again after the delay. */
  'chunk.handed-back': { slot: SlotKey; chunk: number; delayMs: number; reason: 'retries' | 'shutdown' | 'limit' }
  /** `eachChunk` failed with so many entities; they are worked on one by one. */
  'chunk.fell-back': { slot: SlotKey; chunk: number; entities: number; error: unknown }
  /** Another worker took over; nothing more is written here. */
  'chunk.fenced-off': { slot: SlotKey; chunk: number }
  /** A handler told how far it came: `ctx.progress()`. `amount` is the sum of what it told in this attempt. */
  'entity.progressed': { slot: SlotKey; entity: string; amount: number }
  /** An attempt failed; another follows after the delay. */
  'entity.retried': { slot: SlotKey; entity: string; attempt: number; delayMs: number; error: unknown }
  /** An entity used up its attempts, or may have none: a dead letter. */
  'entity.died': { slot: SlotKey; entity: string; attempts: number; reason: string; error: unknown }
  /** An effect that has a receipt was asked for again and skipped. */
  'receipt.hit': { slot: SlotKey; entity: string; effect: string }
  /** An effect happened whose lease had gone to another: it may have happened twice. */
  'receipt.lost': { slot: SlotKey; entity: string; effect: string }
  /** The run has an outcome; a redrive makes a newer version. `tookMs` since its start; undefined where no chunk was worked on. */
  'run.ended': { slot: SlotKey; state: RunState; version: number; tookMs?: number }
  /** An attempt at `done` failed. */
  'done.failed': { slot: SlotKey; error: unknown; attempt: number; final: boolean }
  /** A task that asks for nothing: ended, folded, or unknown to the ledger. */
  'task.acknowledged': { slot: SlotKey; task: string; reason: string }
  /** This worker lacks the handler or its version; another may have it. */
  'task.handed-back': { slot: SlotKey; task: string; reason: string; delayMs: number }
  /** What the queue reports beside outcomes: lost locks, lost connections. */
  'queue.troubled': { queue: string; kind: string; task?: string; error?: unknown }
  /** The worker takes tasks. */
  'worker.started': { worker: string; queues: Readonly<Record<string, number>> }
  /** The worker takes none any more; `forced`: what ran was aborted. */
  'worker.stopped': { worker: string; forced: boolean }

  /** Something did not run, or will not: raised once per condition in the whole fleet. */
  'alarm.raised': AlarmFacts
  /** The condition is over. */
  'alarm.cleared': AlarmFacts
  /** An alarm reached nobody at this place, after its last attempt; the journal keeps it. */
  'alarm.undelivered': { alarms: readonly string[]; notifier: string; attempts: number; error: unknown }
  /** The watchdog could not look; it tries again. */
  'watchdog.failed': { error: unknown }
  /** A job's heartbeat URL did not answer, after the last attempt. */
  'heartbeat.failed': { job: string; error: unknown }
}

export type EventName = keyof CronceEvents
