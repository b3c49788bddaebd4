import { CronceError, type SlotKey } from '@cronce/core'
import { redactionOf, redactLetter, type ShownLetter } from '@cronce/queue'
import { type DeadLetter, readDeadLetter, type Store } from '@cronce/store'
import type { ServiceAccess } from './access.ts'
import { jobOfLetter } from './list-dead-letters.ts'
import type { Operator } from './operator.ts'
import { recordAction } from './record-action.ts'

export type { ShownLetter } from '@cronce/queue'

/**
 * One dead letter with its payload and every error that is kept, whatever its state; without what its job does not show.
 *
 * @throws CronceError CRONCE_DEAD_LETTER_UNKNOWN
 */
export async function showDeadLetter(store: Store, id: string): Promise<ShownLetter> {
  const letter = await requireLetter(store, id)
  return redactLetter(letter, await redactionOf(store, letter.job))
}

export interface RevealRequest {
  readonly operator: Operator
  /** Which letters, in short, as the journal says it. */
  readonly selection: string
  readonly job?: string | undefined
  readonly slots?: readonly SlotKey[] | undefined
  readonly note?: string | undefined
}

/**
 * Shows dead letters whole, to an admin, and the journal says so. `read` is given what shows one.
 *
 * @throws CronceError CRONCE_NOT_ALLOWED, CRONCE_INPUT_INVALID; and what `read` throws
 */
export async function revealDeadLetters<T>(
  access: Pick<ServiceAccess, 'store'>,
  request: RevealRequest,
  read: (show: (id: string) => Promise<ShownLetter>) => Promise<T>,
): Promise<T> {
  const { store } = access
  let letters = 0
  const show = async (id: string): Promise<ShownLetter> => {
    const letter = await requireLetter(store, id)
    const { redacted } = redactLetter(letter, await redactionOf(store, letter.job))
    if (redacted) letters += 1
    return { ...letter, redacted: false }
  }
  return await recordAction(access, { ...request, action: 'reveal' }, async () => {
    const answer = await read(show)
    return { answer, end: letters === 0 ? 'unchanged' : { result: 'revealed', counts: { letters } } }
  })
}

async function requireLetter(store: Store, id: string): Promise<DeadLetter> {
  const letter = await readDeadLetter(store, jobOfLetter(id), id)
  if (letter === undefined) throw new CronceError('CRONCE_DEAD_LETTER_UNKNOWN', { id })
  return letter
}
