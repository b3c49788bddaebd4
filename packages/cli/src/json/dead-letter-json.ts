import type { DeadLetterRow, ShownLetter } from '@cronce/operations'
import { isoText } from '../text/instant-text.ts'

type Json = Readonly<Record<string, unknown>>

/** A dead letter in a list. */
export function deadLetterJson({ id, slot, job, entity, attempts, error, at, reason }: DeadLetterRow): Json {
  return {
    id,
    slot,
    job,
    entity: entity ?? null,
    attempts,
    error: error === undefined ? null : { name: error.name, message: error.message },
    at: isoText(at),
    reason,
  }
}

/** A dead letter with everything that is kept of it. */
export function wholeDeadLetterJson(letter: ShownLetter): Json {
  const { id, slot, job, entity, attempts, at, reason, state, lives, worker, release, payload, errors } = letter
  const [newest] = errors
  return {
    id,
    slot,
    job,
    entity: entity ?? null,
    attempts,
    error: newest === undefined ? null : { name: newest.name, message: newest.message },
    at: isoText(at),
    reason,
    state,
    lives,
    worker,
    release,
    payload: payload ?? null,
    redacted: letter.redacted,
    errors: errors.map((error) => ({ ...error, at: isoText(error.at) })),
    discardReason: letter.discardReason ?? null,
  }
}
