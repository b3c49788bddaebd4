import { createHash } from 'node:crypto'
import { CronceError, describeValue, type SlotKey } from '@cronce/core'

/** The longest effect name, in characters. */
export const LONGEST_EFFECT = 200

/** The longest idempotency key: what payment services take in a header. */
const LONGEST_KEY = 255

/** Long keys keep this much of their text, so that people still recognise them. */
const KEPT_TEXT = 200

/**
 * Refuses what cannot name an effect. A line break would end the receipt's field early.
 *
 * @throws CronceError CRONCE_EFFECT_INVALID
 */
export function checkEffect(effect: string): void {
  const fits =
    typeof effect === 'string' && effect !== '' && effect.length <= LONGEST_EFFECT && !/[\n\r\p{Cs}]/u.test(effect)
  if (!fits) throw new CronceError('CRONCE_EFFECT_INVALID', { longest: LONGEST_EFFECT, got: describeValue(effect) })
}

/**
 * The idempotency key of one effect. Each part is percent-encoded, so no two triples share a key and it is printable ASCII; one
 * that is too long for a header ends in the SHA-256 of the whole.
 */
export function formatIdempotencyKey(slot: SlotKey, entity: string, effect: string): string {
  checkEffect(effect)
  const [job = '', instant = ''] = splitLast(slot)
  const key = `${encodeURIComponent(job)}@${instant}/${encodeURIComponent(entity)}/${encodeURIComponent(effect)}`
  if (key.length <= LONGEST_KEY) return key
  return `${key.slice(0, KEPT_TEXT)}~${createHash('sha256').update(key).digest('base64url')}`
}

function splitLast(slot: SlotKey): [string, string] {
  const at = slot.lastIndexOf('@')
  return [slot.slice(0, at), slot.slice(at + 1)]
}
