import { parseSlotKey } from '@cronce/core'
import {
  ACTION_LISTS,
  type ActionList,
  actionMarks,
  type MarkQuery,
  readActions,
  type Store,
  type StoredAction,
  type TimeMark,
} from '@cronce/store'
import { type MarkSource, mergeMarks, readPage } from './merged-marks.ts'
import { type Page, type PageRequest, type Place, pageLimit, readCursor } from './page.ts'

/** One change that somebody asked for. Instants in epoch ms. */
export interface ActionRow {
  /** Of its journal, which has two lists: unique with {@link at}. */
  readonly id: string
  readonly at: number
  readonly by: string
  /** `cli`, `console`, `trigger` or `code`. */
  readonly way: string
  readonly role: string
  /** A name of PERMISSIONS; of a newer release perhaps another. */
  readonly action: string
  readonly job: string | undefined
  /** Slot keys, 100 at most; `moreSlots` counts the rest. */
  readonly slots: readonly string[]
  readonly moreSlots: number
  readonly selection: string | undefined
  readonly note: string | undefined
  /** `asked`: it is under way, or its process died: it was made in whole, in part or not at all. */
  readonly outcome: 'asked' | 'done' | 'failed'
  /** A word or two; of a failure its code. Empty while it is not known. */
  readonly result: string
  readonly counts: Readonly<Record<string, number>>
}

export interface ActionQuery extends PageRequest {
  /** Changes of this job, or of slots of it. */
  readonly job?: string | undefined
  /** Changes that name this slot, by its whole key. */
  readonly slot?: string | undefined
  /** By this name, whole. */
  readonly who?: string | undefined
}

/**
 * What people changed, newest first: who, when, by which way, why, and what came of it. 10,000 changes are kept, for 400 days;
 * definitions that are added and removed at run time are counted apart.
 *
 * @throws CronceError CRONCE_SLOT_KEY_INVALID, CRONCE_INPUT_INVALID
 */
export async function listActions(store: Store, query: ActionQuery = {}): Promise<Page<ActionRow>> {
  const limit = pageLimit(query)
  if (query.slot !== undefined) parseSlotKey(query.slot)
  for (let { cursor } = query; ; ) {
    const page = await readRows(store, { ...query, cursor, limit })
    // A filter that found nothing yet looks on: the journal is bounded.
    if (page.rows.length > 0 || page.next === undefined) return page
    cursor = page.next
  }
}

async function readRows(store: Store, query: ActionQuery & { readonly limit: number }): Promise<Page<ActionRow>> {
  const { limit } = query
  const after = readCursor(query.cursor)
  const rows = new ActionRows(store)
  const sources = ACTION_LISTS.map((list): MarkSource => ({ name: list, marks: (marks) => rows.marks(list, marks) }))
  // A filter looks at many rows for one: they are read in few commands.
  const isFiltered = query.job !== undefined || query.slot !== undefined || query.who !== undefined
  return await readPage(mergeMarks(sources, { after, expected: isFiltered ? READ_AT_ONCE : limit }), {
    limit,
    read: async (places) => places.map((place) => rowOf(rows.take(place), place, query)),
  })
}

const READ_AT_ONCE = 500

/** The rows that were passed on the way, read together with their places. */
class ActionRows {
  readonly #store: Store
  readonly #rows = new Map<string, StoredAction>()

  constructor(store: Store) {
    this.#store = store
  }

  async marks(list: ActionList, query: MarkQuery): Promise<TimeMark[]> {
    const marks = await actionMarks(this.#store, list, query)
    const ids = marks.map(({ id }) => id)
    const rows = await readActions(this.#store, ids)
    ids.forEach((id, index) => {
      const row = rows[index]
      if (row !== undefined) this.#rows.set(id, row)
    })
    return marks
  }

  take({ id }: Place): StoredAction | undefined {
    const row = this.#rows.get(id)
    this.#rows.delete(id)
    return row
  }
}

function rowOf(stored: StoredAction | undefined, place: Place, query: ActionQuery): ActionRow | undefined {
  if (stored === undefined) return undefined
  const { asked, ended } = stored
  const row: ActionRow = {
    ...{ id: place.id, at: place.at, by: asked.by, way: asked.way, role: asked.role, action: asked.action },
    ...{ job: asked.job, selection: asked.selection, note: asked.note },
    slots: ended?.slots ?? asked.slots ?? [],
    moreSlots: ended?.moreSlots ?? asked.moreSlots ?? 0,
    outcome: ended?.outcome ?? 'asked',
    result: ended?.result ?? '',
    counts: ended?.counts ?? {},
  }
  return isMeant(row, query) ? row : undefined
}

function isMeant({ job, slots, by }: ActionRow, query: ActionQuery): boolean {
  if (query.who !== undefined && by !== query.who) return false
  if (query.slot !== undefined && !slots.includes(query.slot)) return false
  return query.job === undefined || job === query.job || slots.some((slot) => parseSlotKey(slot).job === query.job)
}
