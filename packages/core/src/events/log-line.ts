import type { CronceEvents, EventName } from './event-map.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

type LineOf<Name extends EventName> = readonly [LogLevel, (facts: CronceEvents[Name]) => string]

/** Event to level and text: the only place where log lines are worded. Losing a claim is one debug line (T4). */
const LINES: { readonly [Name in EventName]: LineOf<Name> } = {
  'job.registered': ['info', ({ job, status }) => `job ${job}: ${status}`],
  'job.passed-over': ['error', ({ job, reason }) => `job ${job} is passed over: ${reason}`],
  'slot.claimed': ['debug', () => 'claimed'],
  'slot.lost': ['debug', ({ by }) => `already claimed by ${by}`],
  'slot.held-up': ['info', ({ verdict }) => (verdict === 'waiting' ? 'waits for the run before it' : 'skipped')],
  'slot.added': ['debug', ({ queue }) => `on queue ${queue}`],
  'slot.enqueued': ['info', ({ latenessMs }) => `enqueued, ${latenessMs} ms late`],
  'slot.released': ['error', () => 'could not be enqueued; the claim was given back and the slot is due again'],
  'slot.unsure': ['error', () => 'it is not known whether it was enqueued; it is looked at again when the lease ends'],
  'slots.cut': ['warn', ({ count, state, reason }) => `${count} slots ${state}: ${reason}`],
  'slots.admitted': ['warn', ({ count }) => `${count} slots of an outage will run late`],
  'work.readded': ['info', ({ count }) => `added ${count} quiet tasks again`],
  'tick.finished': ['debug', ({ due, claimed }) => `tick: ${due} due, ${claimed} claimed`],
  'tick.failed': [
    'error',
    ({ dueSlots }) => `the store is out of reach; ${dueSlots.length} slots are due and wait for it`,
  ],
  'store.lost-touch': ['error', () => 'the store is out of reach'],
  'store.reached': ['info', ({ afterMs }) => `the store is in reach again after ${afterMs} ms`],
  'store.lost-writes': ['error', ({ reason }) => `the store lost writes (${reason}); told what this replica remembers`],
  'clock.skewed': ['warn', ({ skewMs }) => `this clock and Redis differ by ${skewMs} ms`],
  'trigger.started': ['info', ({ jobs }) => `trigger started with ${jobs} jobs`],
  'trigger.stopped': ['info', () => 'trigger stopped'],
  'run.started': ['info', ({ latenessMs }) => `run started, ${latenessMs} ms late`],
  'chunk.written': ['debug', ({ chunk }) => `chunk ${chunk} written`],
  'chunk.added': ['debug', ({ chunk }) => `chunk ${chunk} on the queue`],
  'run.planned': ['info', ({ chunks }) => `planned in ${chunks} chunks`],
  'plan.failed': [
    'error',
    ({ final }) =>
      `the entity source failed; ${final ? 'out of attempts, the run ends as failed' : 'it is read again later'}`,
  ],
  'chunk.started': ['debug', ({ chunk, entities }) => `chunk ${chunk} started, ${entities} entities to do`],
  'chunk.crashed': ['warn', ({ chunk }) => `the last holder of chunk ${chunk} died; taken over`],
  'chunk.settled': ['debug', ({ chunk, done, dead }) => `chunk ${chunk} settled: ${done} done, ${dead} dead`],
  'chunk.handed-back': ['debug', ({ chunk, reason }) => `chunk ${chunk} handed back: ${reason}`],
  'chunk.fell-back': [
    'warn',
    ({ chunk, entities }) => `chunk ${chunk}: eachChunk failed; its ${entities} entities are worked on one by one`,
  ],
  'chunk.fenced-off': ['warn', ({ chunk }) => `another worker took chunk ${chunk} over; nothing more is written here`],
  'entity.progressed': ['debug', ({ amount }) => `progress: ${amount}`],
  'entity.retried': ['warn', ({ attempt, delayMs }) => `attempt ${attempt} failed; tried again in ${delayMs} ms`],
  'entity.died': ['error', ({ attempts, reason }) => `dead letter after ${attempts} attempts: ${reason}`],
  'receipt.hit': ['debug', ({ effect }) => `effect ${effect} has its receipt; skipped`],
  'receipt.lost': [
    'warn',
    ({ effect }) => `effect ${effect} ended after its lease was another's; it may have happened twice`,
  ],
  'run.ended': ['info', ({ state }) => `run ended: ${state}`],
  'done.failed': [
    'error',
    ({ final }) => `done failed; ${final ? 'it is a dead letter of the run' : 'it is tried again'}`,
  ],
  'task.acknowledged': ['debug', ({ reason }) => `nothing to do: ${reason}`],
  'task.handed-back': ['warn', ({ reason }) => `handed back: ${reason}`],
  'queue.troubled': ['warn', ({ kind }) => `queue trouble: ${kind}`],
  'worker.started': ['info', () => 'worker started'],
  'worker.stopped': [
    'info',
    ({ forced }) => (forced ? 'worker stopped at its deadline; the rest was handed back' : 'worker stopped'),
  ],
  'alarm.raised': ['error', ({ kind, reason }) => `alarm: ${kind}: ${reason}`],
  'alarm.cleared': ['info', ({ kind }) => `alarm is over: ${kind}`],
  'alarm.undelivered': [
    'error',
    ({ alarms, notifier, attempts }) => `${alarms.length} alarms did not reach ${notifier} in ${attempts} attempts`,
  ],
  'watchdog.failed': ['warn', () => 'the watchdog could not look; it tries again'],
  'heartbeat.failed': ['warn', ({ job }) => `the heartbeat of job ${job} did not get through`],
}

/** What a logger needs to know: pino fits. */
export interface LogSink {
  isLevelEnabled(level: LogLevel): boolean
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Writes one event as one log line. Its facts are the line's fields; errors go under pino's key `err`. */
export function writeLogLine<Name extends EventName>(log: LogSink, name: Name, facts: CronceEvents[Name]): void {
  const [level, word] = LINES[name]
  // Most lines of a busy replica are below its level: what nobody reads is not worded.
  if (!log.isLevelEnabled(level)) return
  const { error, ...fields } = facts as { error?: unknown }
  log[level]({ event: name, ...fields, ...(error === undefined ? {} : { err: error }) }, word(facts))
}
