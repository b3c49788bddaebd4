import { type ErrorCode, isCronceError, type SlotKey } from '@cronce/core'
import { type ActionList, askAction, endAction, withdrawAction } from '@cronce/store'
import type { ServiceAccess } from './access.ts'
import { authorize, type Operator } from './operator.ts'
import type { Action } from './permissions.ts'

/** A change that somebody asks for, as the journal says it. */
export interface AskedAction {
  readonly operator: Operator
  readonly action: Action
  readonly job?: string | undefined
  /** The slots that it is for, where they are known before. */
  readonly slots?: readonly SlotKey[] | undefined
  /** What was chosen, in short: `job=invoice-run error="HTTP 402"`, `3 letters`, a range. */
  readonly selection?: string | undefined
  readonly note?: string | undefined
  /** Errors of the change that prove that nothing was changed. */
  readonly refusals?: readonly ErrorCode[] | undefined
}

/** What came of a change. */
export interface ActionEnd {
  /** A word or two: `paused`, `enqueued`. */
  readonly result: string
  readonly counts?: Readonly<Record<string, number>> | undefined
  /** The slots that it touched, where only the change finds them. */
  readonly slots?: readonly SlotKey[] | undefined
}

/** An answer of an operation, and what the journal keeps of it; `unchanged` where nothing was changed: then nothing is kept. */
export interface Changed<T> {
  readonly answer: T
  readonly end: ActionEnd | 'unchanged'
}

/** Slots that one row names; the rest is counted. Each slot's own history has the change as well. */
const MOST_SLOTS = 100
const LONGEST_SELECTION = 1_000

/**
 * Makes a change with a row of the journal around it. The row is written **before** the change, so that there is none without one:
 * a process that dies between the two leaves a row that says `asked`, of a change that was made in whole, in part or not at all. What
 * fails half-way stays as `failed` with the reason. A row is taken back where nothing was changed. Where the end cannot be written, what
 * came of the change is answered all the same, and the row stays `asked`.
 *
 * @throws CronceError CRONCE_NOT_ALLOWED, CRONCE_INPUT_INVALID; and what the change throws
 * @example
 * return await recordAction(access, { operator, action: 'redrive', selection: '3 letters' }, async () => {
 *   const answer = await redriveAll()
 *   return { answer, end: answer.entities === 0 ? 'unchanged' : { result: 'redriven', counts: { entities: answer.entities } } }
 * })
 */
export async function recordAction<T>(
  { store, onFault }: Pick<ServiceAccess, 'store' | 'onFault'>,
  asked: AskedAction,
  change: () => Promise<Changed<T>>,
): Promise<T> {
  const { operator, action, slots, selection, refusals = [], ...rest } = asked
  const by = authorize(operator, action)
  const { way = 'code', role = 'admin' } = operator
  const list = LISTS[action] ?? 'people'
  const row = { ...rest, ...named(slots), by, way, role, action, selection: selection?.slice(0, LONGEST_SELECTION) }
  const id = await askAction(store, list, row)
  const write = async (writing: Promise<void>) => {
    await writing.catch((error: unknown) => onFault?.(error, `the end of a change is not in the journal: ${action}`))
  }
  let changed: Changed<T>
  try {
    changed = await change()
  } catch (error) {
    if (isCronceError(error) && refusals.includes(error.code)) await write(withdrawAction(store, list, id))
    else await write(endAction(store, list, { id, ended: { outcome: 'failed', result: reasonOf(error) } }))
    throw error
  }
  const { answer, end } = changed
  if (end === 'unchanged') {
    await write(withdrawAction(store, list, id))
    return answer
  }
  const { result, counts } = end
  await write(endAction(store, list, { id, ended: { outcome: 'done', result, counts, ...named(end.slots) } }))
  return answer
}

const LISTS: Readonly<Partial<Record<Action, ActionList>>> = {
  'upsert-job': 'definitions',
  'remove-job': 'definitions',
}

function named(slots: readonly SlotKey[] | undefined): { slots?: readonly SlotKey[]; moreSlots?: number } {
  if (slots === undefined || slots.length === 0) return {}
  const more = slots.length - MOST_SLOTS
  return { slots: slots.slice(0, MOST_SLOTS), ...(more > 0 ? { moreSlots: more } : {}) }
}

/** By its code: the message of a foreign error may hold a payload. */
function reasonOf(error: unknown): string {
  if (isCronceError(error)) return error.code
  return error instanceof Error ? error.name : 'unknown'
}
