import {
  CronceError,
  formatDeadLetterId,
  formatDoneLetterId,
  type JobSettings,
  type SlotId,
  slotKeyOf,
} from '@cronce/core'
import { showDeadLetters } from '@cronce/queue'
import { hintOpenWork, type Rewalked, readTime, rewalkRun } from '@cronce/store'
import type { ServiceAccess } from './access.ts'
import { authorize, type Operator } from './operator.ts'
import { redriveLetters } from './redrive.ts'

/** A run that has ended and is to be walked again. */
export interface RunToWalk {
  readonly settings: JobSettings
  readonly id: SlotId
  readonly operator: Operator
  readonly why: string | undefined
}

/**
 * R4: plans an ended run again from its source. What is in the run's fold is skipped, what died of it is tried again, and effects that
 * have receipts are repeated nowhere. What was abandoned may have had its effect and is left.
 *
 * @throws CronceError CRONCE_SLOT_BUSY, CRONCE_FOLD_MISSING
 */
export async function rewalk(
  access: ServiceAccess,
  { settings, id, operator, why }: RunToWalk,
): Promise<{ redriven: number; abandonedLeft: number }> {
  const { store, enqueuer } = access
  const { name: job, queue, version } = settings
  const slot = slotKeyOf({ job, id })
  const letters = [formatDeadLetterId(slot), formatDoneLetterId(slot)]
  await hintOpenWork(store, [job], await readTime(store))
  const request = { by: authorize(operator, 'run-slot-again'), letters, ...(why === undefined ? {} : { why }) }
  const walked = await rewalkRun(store, { job, id }, request)
  if (walked.status === 'busy') throw new CronceError('CRONCE_SLOT_BUSY', { slot, state: walked.state ?? 'due' })
  if (walked.status !== 'walking')
    throw new CronceError('CRONCE_FOLD_MISSING', { slot, reason: MISSING[walked.status] })
  // Before the plan is on the queue, so that the run cannot end between the two.
  const { entities, abandonedLeft } = await redriveLetters(access, { selection: { slot }, operator, mode: 'redrive' })
  await enqueuer.add(queue, [{ kind: 'plan', job, id, number: walked.step, version }])
  await showDeadLetters({ store, enqueuer, job, ids: letters })
  return { redriven: entities, abandonedLeft }
}

const MISSING: Readonly<Record<Exclude<Rewalked['status'], 'walking' | 'busy'>, string>> = {
  expired: 'what it did is not remembered any more',
  cancelled: 'a part of it was cancelled, and what that part had done by then is not known',
  unknown: 'the ledger has no record of it',
}
