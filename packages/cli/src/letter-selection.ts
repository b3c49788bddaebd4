import { CronceError } from '@cronce/core'
import type { DeadLetterFilter, LetterSelection } from '@cronce/operations'
import { InputFaults } from './input-faults.ts'
import { readDayOrInstant } from './option-values.ts'

/** Which open dead letters are meant, as it was typed. */
export interface FilterOptions {
  readonly job?: string
  readonly slot?: string
  readonly error?: string
  readonly from?: string
  readonly to?: string
}

/** Which dead letters a command is for, as it was typed. */
export interface SelectionOptions extends FilterOptions {
  readonly id?: readonly string[]
}

/** @throws CronceError CRONCE_USAGE */
export function readFilter({ job, slot, error, from, to }: FilterOptions): DeadLetterFilter {
  const faults = new InputFaults()
  const read = (option: string, text: string | undefined): number | undefined =>
    text === undefined ? undefined : faults.take(() => readDayOrInstant(option, text))
  const filter = { job, slot, error, fromAt: read('--from', from), toAt: read('--to', to) }
  faults.raise()
  return filter
}

const FILTER = '(--job, --slot, --error, --from, --to)'

/**
 * Ids, or a filter, and never neither: a change of everything is asked for job by job.
 *
 * @throws CronceError CRONCE_USAGE
 */
export function readSelection(ids: readonly string[], options: SelectionOptions): LetterSelection {
  const named = [...ids, ...(options.id ?? [])]
  const filter = readFilter(options)
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  if (named.length > 0 && isFiltered) {
    throw new CronceError('CRONCE_USAGE', { reason: `expected ids or a filter ${FILTER}, got both` })
  }
  if (named.length === 0 && !isFiltered) {
    throw new CronceError('CRONCE_USAGE', { reason: `expected ids or a filter ${FILTER}, got neither` })
  }
  return named.length > 0 ? { ids: named } : filter
}
