import { showDeadLetters } from '@cronce/queue'
import { discardDeadLetters } from '@cronce/store'
import type { ServiceAccess } from './access.ts'
import { type LetterSelection, type SelectedLetters, selectLetters } from './letter-selection.ts'
import { type Operator, operatorName } from './operator.ts'
import { LONGEST_NOTE, requireText } from './request-faults.ts'

export interface DiscardRequest {
  readonly selection: LetterSelection
  readonly operator: Operator
  /** Kept with the letter. */
  readonly reason: string
  /** `preview` changes nothing. */
  readonly mode: 'preview' | 'discard'
}

export interface DiscardResult {
  readonly entities: number
  readonly settled: SelectedLetters['settled']
}

/** One script takes no more (A5). */
const MOST_PER_SCRIPT = 100

/**
 * W8: gives dead letters up. Their runs' sums keep them as dead.
 *
 * @throws CronceError CRONCE_DEAD_LETTER_UNKNOWN, CRONCE_JOB_UNKNOWN, CRONCE_SLOT_KEY_INVALID, CRONCE_INPUT_INVALID
 */
export async function discard({ store, enqueuer }: ServiceAccess, request: DiscardRequest): Promise<DiscardResult> {
  const by = operatorName(request.operator)
  const reason = requireText('reason', request.reason, LONGEST_NOTE)
  const { open, settled } = await selectLetters(store, request.selection)
  if (request.mode === 'preview') return { entities: open.length, settled }
  let entities = 0
  for (const [job, ids] of idsByJob(open)) {
    for (let start = 0; start < ids.length; start += MOST_PER_SCRIPT) {
      const some = ids.slice(start, start + MOST_PER_SCRIPT)
      entities += await discardDeadLetters(store, job, { ids: some, by, reason })
      await showDeadLetters({ store, enqueuer, job, ids: some })
    }
  }
  return { entities, settled }
}

function idsByJob(letters: SelectedLetters['open']): Map<string, string[]> {
  const jobs = new Map<string, string[]>()
  for (const { job, id } of letters) {
    const ids = jobs.get(job) ?? []
    jobs.set(job, ids)
    ids.push(id)
  }
  return jobs
}
