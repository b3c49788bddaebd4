import { CronceError } from '@cronce/core'
import type { LetterSelection } from '@cronce/operations'

/** Which dead letters a command is for, as it was typed. */
export interface SelectionOptions {
  readonly id?: readonly string[]
  readonly job?: string
  readonly slot?: string
  readonly error?: string
}

/**
 * Ids, or a filter, and never neither: a change of everything is asked for job by job.
 *
 * @throws CronceError CRONCE_USAGE
 */
export function readSelection(ids: readonly string[], options: SelectionOptions): LetterSelection {
  const { job, slot, error } = options
  const named = [...ids, ...(options.id ?? [])]
  const isFiltered = job !== undefined || slot !== undefined || error !== undefined
  if (named.length > 0 && isFiltered) {
    throw new CronceError('CRONCE_USAGE', { reason: 'expected ids or a filter (--job, --slot, --error), got both' })
  }
  if (named.length === 0 && !isFiltered) {
    throw new CronceError('CRONCE_USAGE', { reason: 'expected ids or a filter (--job, --slot, --error), got neither' })
  }
  return named.length > 0 ? { ids: named } : { job, slot, error }
}

/** What is said of letters that were named and are not open any more. */
export function settledLines(settled: readonly { readonly id: string; readonly state: string }[]): string[] {
  const meaning: Readonly<Record<string, string>> = {
    redriven: 'already queued',
    resolved: 'already done',
    discarded: 'discarded',
  }
  return settled.map(({ id, state }) => ` ${id}  ${meaning[state] ?? state}`)
}
