import { parseJobSettings, type Redaction, redactPayload, withoutValues } from '@cronce/core'
import { type DeadLetter, readJob, type Store } from '@cronce/store'

/** A dead letter as it may be shown. */
export interface ShownLetter extends DeadLetter {
  /** Whether something of it is not shown: its definition says what, under `redact`. */
  readonly redacted: boolean
}

/** What a job does not show; undefined: nothing. Where nobody can read its definition, nothing is shown. */
export async function redactionOf(store: Store, job: string): Promise<Redaction | undefined> {
  const { ok } = parseJobSettings((await readJob(store, job))?.settings)
  return ok === undefined ? 'all' : ok.redact
}

export function redactLetter(letter: DeadLetter, redaction: Redaction | undefined): ShownLetter {
  if (redaction === undefined) return { ...letter, redacted: false }
  const { payload, ...hidden } = redactPayload(letter.payload, redaction)
  // Of letters from before the definition said so: what a worker writes has its errors redacted.
  const errors = letter.errors.map(({ stack, ...error }) => ({
    ...{ ...error, message: withoutValues(error.message, hidden) },
    ...(stack === undefined ? {} : { stack: withoutValues(stack, hidden) }),
  }))
  return { ...letter, payload, errors, redacted: JSON.stringify(payload) !== JSON.stringify(letter.payload) }
}
