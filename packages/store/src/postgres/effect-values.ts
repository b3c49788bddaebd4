import { parseSlotId, slotKeyOf } from '@cronce/core'
import type { RunRef } from '../plan.ts'

/** The instant of a run's slot, the service and the slot key: what every key in Postgres begins with. */
export function runValues(service: string, run: RunRef): [slotAt: string, service: string, slot: string] {
  const slot = parseSlotId(run.id)
  if (slot === undefined) throw new TypeError(`not a slot id: ${run.id}`)
  return [new Date(slot.at).toISOString(), service, slotKeyOf(run)]
}

/** Postgres keeps no NUL in text. Keys with one, or with the sign that it is written with, are escaped; no two keys share a text. */
export function entityText(entity: string): string {
  return /[\0%]/.test(entity) ? entity.replaceAll('%', '%25').replaceAll('\0', '%00') : entity
}
