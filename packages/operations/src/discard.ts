import { showDeadLetters } from '@cronce/queue'
import { discardDeadLetters } from '@cronce/store'
import type { ServiceAccess } from './access.ts'
import type { MeantLetter } from './dead-letter-filter.ts'
import {
  changeLetters,
  type LetterChange,
  type LetterChangeRequest,
  type LetterPlan,
  planChange,
} from './letter-change.ts'
import { changeEnd, selectionEntry } from './letter-entry.ts'
import { selectLetters } from './letter-selection.ts'
import { authorize, operatorName } from './operator.ts'
import { recordAction } from './record-action.ts'
import { LONGEST_NOTE, requireText } from './request-faults.ts'

export interface DiscardRequest extends LetterChangeRequest {
  /** Kept with the letter. */
  readonly reason: string
  /** `preview` changes nothing. */
  readonly mode: 'preview' | 'discard'
}

/** What was given up, or would be. */
export type DiscardResult = LetterChange & Pick<LetterPlan, 'settled'>

/**
 * W8: gives dead letters up. Their runs' sums keep them as dead. Only those that were open when it began.
 *
 * @throws CronceError CRONCE_DEAD_LETTER_UNKNOWN, CRONCE_JOB_UNKNOWN, CRONCE_SLOT_KEY_INVALID, CRONCE_INPUT_INVALID,
 *   CRONCE_NOT_ALLOWED
 */
export async function discard(access: ServiceAccess, request: DiscardRequest): Promise<DiscardResult> {
  const { selection, operator, mode } = request
  const note = requireText('reason', request.reason, LONGEST_NOTE)
  if (mode === 'preview') return await discardLetters(access, request)
  const action = selection.ids?.length === 1 ? 'discard' : 'discard-many'
  authorize(operator, action)
  return await recordAction(access, { operator, action, note, ...selectionEntry(selection) }, async () => {
    const answer = await discardLetters(access, request)
    return { answer, end: changeEnd(answer, 'discarded') }
  })
}

async function discardLetters({ store, enqueuer }: ServiceAccess, request: DiscardRequest): Promise<DiscardResult> {
  const by = operatorName(request.operator)
  const selected = await selectLetters(store, request)
  const work = { selected, takes: () => true }
  const { jobs: _, ...plan } = await planChange(work)
  const { entities, runs, settled } = plan
  if (request.mode === 'preview') return { entities, runs, settled, unchanged: 0, left: 0 }
  request.onPlan?.(plan)
  const options = { by, reason: request.reason.trim(), diedUntil: selected.selectedAt }
  const script = {
    together: ({ job }: MeantLetter) => job,
    run: async (letters: readonly [MeantLetter, ...MeantLetter[]]) => {
      const [{ job }] = letters
      const ids = letters.map(({ id }) => id)
      const count = await discardDeadLetters(store, job, { ids, ...options })
      await showDeadLetters({ store, enqueuer, job, ids })
      return count
    },
  }
  return { ...(await changeLetters(work, script, { ...request, total: entities })), settled }
}
