import { serviceKey } from './keys.ts'
import { parseStored } from './reply.ts'
import type { Store } from './store.ts'
import { type MarkQuery, scoredMarks, type TimeMark } from './time-marks.ts'

/**
 * The lists of the journal. Definitions that programs add and remove, ten thousand tenants at a deploy, have one of their own: they
 * push nothing out that a person did.
 */
export const ACTION_LISTS = ['people', 'definitions'] as const
export type ActionList = (typeof ACTION_LISTS)[number]

/** How much of the journal is kept, each list by itself. */
export const MOST_ACTIONS = 10_000
export const ACTIONS_KEPT_MS = 400 * 24 * 3_600_000

/** What was asked for, as stored. */
export interface StoredAsk {
  readonly by: string
  readonly way: string
  readonly role: string
  readonly action: string
  readonly job?: string | undefined
  readonly slots?: readonly string[] | undefined
  /** How many slots it names besides. */
  readonly moreSlots?: number | undefined
  readonly selection?: string | undefined
  readonly note?: string | undefined
}

/** What came of it, as stored. */
export interface StoredEnd {
  readonly outcome: 'done' | 'failed'
  readonly result: string
  readonly counts?: Readonly<Record<string, number>> | undefined
  readonly slots?: readonly string[] | undefined
  readonly moreSlots?: number | undefined
}

/** A row of the journal. */
export interface StoredAction {
  readonly asked: StoredAsk
  /** Undefined: it is under way, or its process died. */
  readonly ended: StoredEnd | undefined
}

/** Writes that a change is about to be made. Answers the id of the row. */
export async function askAction(store: Store, list: ActionList, asked: StoredAsk): Promise<string> {
  const [id] = await store.span('action', ['ask', list, '', JSON.stringify(asked), ...BOUNDS])
  return String(id)
}

/** Writes what came of it. */
export async function endAction(store: Store, list: ActionList, end: { id: string; ended: StoredEnd }): Promise<void> {
  await store.span('action', ['end', list, end.id, JSON.stringify(end.ended), ...BOUNDS])
}

/** Takes a row back: nothing was changed. */
export async function withdrawAction(store: Store, list: ActionList, id: string): Promise<void> {
  await store.span('action', ['withdraw', list, id, '', ...BOUNDS])
}

const BOUNDS = [MOST_ACTIONS, ACTIONS_KEPT_MS]

/** Where the rows of a list are, newest first. */
export function actionMarks(store: Store, list: ActionList, query: MarkQuery): Promise<TimeMark[]> {
  return scoredMarks(store, `${serviceKey(store.service)}:actions:${list}`, query)
}

/** Rows by their ids, in their order; undefined for those that are gone or that nobody can read. */
export async function readActions(store: Store, ids: readonly string[]): Promise<(StoredAction | undefined)[]> {
  if (ids.length === 0) return []
  const fields = ids.flatMap((id) => [id, `${id}:end`])
  const values = await store.redis.hmget(`${serviceKey(store.service)}:actions:rows`, ...fields)
  return ids.map((_, index) => {
    const [asked, ended] = [values[index * 2], values[index * 2 + 1]]
    const row = { asked: parseStored(asked ?? ''), ended: parseStored(ended ?? '') }
    return isAsk(row.asked) ? { asked: row.asked, ended: isEnd(row.ended) ? row.ended : undefined } : undefined
  })
}

function isAsk(stored: unknown): stored is StoredAsk {
  const { by, way, role, action, job = '', selection = '', note = '', slots } = fieldsOf(stored)
  return [by, way, role, action, job, selection, note].every(isText) && isSlots(slots)
}

function isEnd(stored: unknown): stored is StoredEnd {
  const { outcome, result, slots } = fieldsOf(stored)
  return isText(outcome) && isText(result) && isSlots(slots)
}

function fieldsOf(stored: unknown): Readonly<Record<string, unknown>> {
  return typeof stored === 'object' && stored !== null ? { ...stored } : {}
}

function isSlots(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.every(isText))
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
