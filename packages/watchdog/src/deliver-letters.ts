import { createHash } from 'node:crypto'
import type { EventEmitter, Random } from '@cronce/core'
import type { AlarmEntry, AlarmLetter, LetterOutcome } from '@cronce/store'
import type { Notifier } from './notifier.ts'

/** Pauses between attempts, ms; after the last one an alarm counts as undelivered. */
export const DELIVERY_PAUSES_MS = [5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000]

/** A fifth more or less keeps the processes of a fleet from knocking in step. */
const JITTER = 0.2

/** How alarms go out. */
export interface Postman {
  readonly service: string
  readonly by: string
  readonly notifiers: readonly Notifier[]
  readonly events: EventEmitter
  readonly random: Random
}

export interface Delivery {
  readonly outcomes: readonly LetterOutcome[]
  /** Dead ends, for the journal. */
  readonly journal: readonly Omit<AlarmEntry, 'id'>[]
}

/** One attempt at these letters, all in one notice per notifier. What was not taken is to be tried again, or has come to a dead end. */
export async function deliverLetters(
  postman: Postman,
  letters: readonly AlarmLetter[],
  now: number,
): Promise<Delivery> {
  if (letters.length === 0) return { outcomes: [], journal: [] }
  const took = new Map<string, ReadonlySet<string>>()
  const errors = new Map<string, unknown>()
  await Promise.all(
    postman.notifiers.map(async (notifier) => {
      const open = letters.filter(({ delivered }) => !delivered.includes(notifier.name))
      if (open.length === 0) return
      try {
        await notifier.notify({ id: noticeId(open), service: postman.service, alarms: open.map(({ entry }) => entry) })
        took.set(notifier.name, new Set(open.map(({ entry }) => entry.id)))
      } catch (error) {
        errors.set(notifier.name, error)
      }
    }),
  )
  // One draw for all: what was told together is tried again together.
  const jitter = 1 + JITTER * (2 * postman.random() - 1)
  const outcomes = letters.map((letter) => outcomeOf(letter, { took, now, postman, jitter }))
  return { outcomes, journal: tellDeadEnds(postman, { outcomes, errors, now }) }
}

/** The same letters have the same id, whoever sends them and however often. */
function noticeId(letters: readonly AlarmLetter[]): string {
  const ids = letters.map(({ entry }) => entry.id).join(' ')
  return createHash('sha256').update(ids).digest('base64url').slice(0, 22)
}

function outcomeOf(
  letter: AlarmLetter,
  round: { took: ReadonlyMap<string, ReadonlySet<string>>; now: number; postman: Postman; jitter: number },
): LetterOutcome {
  const { took, now, postman, jitter } = round
  const attempts = letter.attempts + 1
  const taken = [...took].filter(([, ids]) => ids.has(letter.entry.id)).map(([name]) => name)
  const delivered = [...letter.delivered, ...taken]
  const pauseMs = DELIVERY_PAUSES_MS[attempts - 1]
  const isDone = postman.notifiers.every(({ name }) => delivered.includes(name))
  const againAt = isDone || pauseMs === undefined ? undefined : now + Math.round(pauseMs * jitter)
  return { entry: letter.entry, attempts, delivered, againAt }
}

/** An alarm that reaches nobody is itself to be seen: as an event, and in the journal. */
function tellDeadEnds(
  { notifiers, events, by }: Postman,
  round: { outcomes: readonly LetterOutcome[]; errors: ReadonlyMap<string, unknown>; now: number },
): Omit<AlarmEntry, 'id'>[] {
  const ended = round.outcomes.filter(({ againAt }) => againAt === undefined)
  return notifiers.flatMap(({ name }) => {
    const dead = ended.filter(({ delivered }) => !delivered.includes(name))
    const [first] = dead
    if (first === undefined) return []
    const error = round.errors.get(name)
    events.emit('alarm.undelivered', {
      alarms: dead.map(({ entry }) => entry.key),
      notifier: name,
      attempts: first.attempts,
      error,
    })
    const why = error instanceof Error ? error.message : 'it was not taken'
    return dead.map(({ entry: { id: _, ...entry }, attempts }) => ({
      ...entry,
      ...{ event: 'undelivered' as const, at: round.now, by },
      reason: `${entry.reason} (${entry.event}; did not reach ${name} in ${attempts} attempts: ${why})`,
    }))
  })
}
