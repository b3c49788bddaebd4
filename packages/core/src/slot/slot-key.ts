import { CronceError } from '../errors/cronce-error.ts'
import { decodeName, encodeEntityKey, encodeName } from './name-encoding.ts'

/**
 * The one text form of a slot: claim key, queue job id, ledger key, receipt key and log field.
 *
 * Safe as a BullMQ id for any job name: it holds no `:`, is never an integer, never empty, and never one of BullMQ's own
 * key names, because it always ends in an instant.
 *
 * @example 'invoice-run@20260825T020000Z', 'invoice-run@20260825T091502Z+manual-1'
 */
export type SlotKey = string & { readonly __brand: 'SlotKey' }

/** A slot: one occurrence of a job. */
export interface Slot {
  readonly job: string
  /** The nominal instant, epoch milliseconds, whole seconds. */
  readonly at: number
  /** Set for a run by hand, which has an identity of its own: 1, 2, ... */
  readonly manual?: number
}

/** A slot without its job: what the keys of one job use. `20260825T020000Z` or `20260825T091502Z+manual-1`. */
export type SlotId = string & { readonly __brand: 'SlotId' }

const SLOT_ID = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z(?:\+manual-([1-9]\d{0,8}))?$/

/** Formats the part of a slot key after the job name. `at` is cut to whole seconds. */
export function formatSlotId(at: number, manual?: number): SlotId {
  const iso = new Date(at).toISOString()
  // Years beyond 9999 are written with a sign and more digits; the parts count from the end.
  const date = `${iso.slice(0, -20)}${iso.slice(-19, -17)}${iso.slice(-16, -14)}`
  const instant = `${date}T${iso.slice(-13, -11)}${iso.slice(-10, -8)}${iso.slice(-7, -5)}Z`
  return (manual === undefined ? instant : `${instant}+manual-${manual}`) as SlotId
}

/** Reads what {@link formatSlotId} wrote; undefined for anything else, impossible dates included. */
export function parseSlotId(id: string): { readonly at: number; readonly manual?: number } | undefined {
  const match = SLOT_ID.exec(id)
  if (match === null) return undefined
  const [, year, month, day, hour, minute, second, manual] = match
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  if (Number.isNaN(at) || formatSlotId(at) !== id.slice(0, 16)) return undefined
  return manual === undefined ? { at } : { at, manual: Number(manual) }
}

/** Formats a slot. */
export function formatSlotKey(slot: Slot): SlotKey {
  return `${encodeName(slot.job)}@${formatSlotId(slot.at, slot.manual)}` as SlotKey
}

/**
 * Reads a slot key.
 *
 * @throws CronceError CRONCE_SLOT_KEY_INVALID
 */
export function parseSlotKey(key: string): Slot {
  const separator = key.indexOf('@', 1)
  const id = separator < 1 ? undefined : parseSlotId(key.slice(separator + 1))
  if (id === undefined) throw new CronceError('CRONCE_SLOT_KEY_INVALID', { got: key.slice(0, 200) })
  return { job: decodeName(key.slice(0, separator)), ...id }
}

/** The slot key of a job's slot id, without parsing it. */
export function slotKeyOf({ job, id }: { readonly job: string; readonly id: SlotId }): SlotKey {
  return `${encodeName(job)}@${id}` as SlotKey
}

/** The part of a slot key after the job name, without parsing it. */
export function slotIdOf(key: SlotKey): SlotId {
  return key.slice(key.indexOf('@', 1) + 1) as SlotId
}

/** Orders slots by instant, then scheduled before manual, then by job name. */
export function compareSlots(a: Slot, b: Slot): number {
  return a.at - b.at || (a.manual ?? 0) - (b.manual ?? 0) || (a.job < b.job ? -1 : a.job > b.job ? 1 : 0)
}

/** The id of an entity's dead letter, or of the run's plan where no entity is given. Safe as a BullMQ id. */
export function formatDeadLetterId(slot: SlotKey, entity?: string): string {
  return entity === undefined ? slot : `${slot}/${encodeEntityKey(entity)}`
}

/** The id of the dead letter of a run's `done`. No entity has it: `+` is always escaped in their keys. */
export function formatDoneLetterId(slot: SlotKey): string {
  return `${slot}${DONE_LETTER}`
}

const DONE_LETTER = '/+done'

/**
 * Reads a dead letter's id; one of the run itself, of its plan or its `done`, has no entity.
 *
 * @throws CronceError CRONCE_SLOT_KEY_INVALID where no slot key leads it
 */
export function parseDeadLetterId(id: string): { readonly slot: SlotKey; readonly entity?: string } {
  const at = id.indexOf('@', 1)
  const slash = at < 1 ? -1 : id.indexOf('/', at)
  const slot = slash < 0 ? id : id.slice(0, slash)
  parseSlotKey(slot)
  return slash < 0 || id.slice(slash) === DONE_LETTER
    ? { slot: slot as SlotKey }
    : { slot: slot as SlotKey, entity: decodeName(id.slice(slash + 1)) }
}
