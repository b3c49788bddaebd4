import type { RunRow } from '@cronce/operations'
import { isoOrNull, isoText } from '../text/instant-text.ts'

type Json = Readonly<Record<string, unknown>>

/** A run in JSON; what did not happen is null. */
export function runJson(row: RunRow): Json {
  const { slot, job, at, state, cause, reason, latenessMs, durationMs, entities, by, release, gap } = row
  const { done, dead, abandoned, skipped } = entities
  return {
    slot,
    job,
    at: isoText(at),
    state,
    cause: cause ?? null,
    reason: reason ?? null,
    latenessMs: latenessMs ?? null,
    durationMs: durationMs ?? null,
    entities: { done, dead, abandoned, skipped },
    by: by ?? null,
    release: release ?? null,
    gap: gap === undefined ? null : { after: isoText(gap.fromAt), until: isoOrNull(gap.toAt), count: gap.count },
  }
}
