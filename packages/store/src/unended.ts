import { parseSlotId, type SlotId } from '@cronce/core'
import { jobKey } from './keys.ts'
import { type LedgerEntry, readEntry } from './ledger-entry.ts'
import type { Store } from './store.ts'

/** A job's slots that are open or on their way, oldest first: what may be overdue. */
export async function listUnended(store: Store, job: string, limit: number): Promise<LedgerEntry[]> {
  const base = jobKey(store.service, job)
  const sets = await Promise.all(
    ['open', 'active'].map((set) => store.redis.zrange(`${base}:${set}`, '0', String(limit - 1))),
  )
  const ids = sets.flat().filter((id) => parseSlotId(id) !== undefined) as SlotId[]
  const rows = await Promise.all(ids.map((id) => store.redis.hgetall(`${base}:slot:${id}`)))
  return rows
    .flatMap((fields, index) => (fields['state'] === undefined ? [] : [readEntry(job, ids[index] as SlotId, fields)]))
    .toSorted((a, b) => a.at - b.at)
    .slice(0, limit)
}
