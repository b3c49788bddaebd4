import { describeValue } from '../errors/describe-value.ts'

/** The longest entity key, in bytes of UTF-8: it is part of the keys of receipts and of the ids of dead letters. */
export const LONGEST_ENTITY_KEY_BYTES = 512

const MOST_BYTES_PER_UNIT = 3

/** Half of a pair, or one alone. Most keys have none, and this is found out ten times as fast. */
const SURROGATE = /[\ud800-\udfff]/

/**
 * What is wrong with what a definition's `key` returned, or undefined. Never throws. A key is text of any kind, `:`, `/` and
 * white space included: it is encoded where it becomes part of an id.
 */
export function entityKeyFault(key: unknown): string | undefined {
  if (typeof key !== 'string' || key === '') return `expected a non-empty entity key, got ${describeValue(key)}`
  // In Redis, every lone surrogate becomes the same U+FFFD: two entities would share their receipts.
  if (SURROGATE.test(key) && /\p{Cs}/u.test(key)) {
    return `expected an entity key of whole Unicode characters, got a lone surrogate in ${describeValue(key)}`
  }
  // A code unit is at most three bytes, and at least one: most keys need not be encoded to be measured, an endless one must not be.
  if (key.length * MOST_BYTES_PER_UNIT <= LONGEST_ENTITY_KEY_BYTES) return undefined
  const bytes = key.length > LONGEST_ENTITY_KEY_BYTES ? key.length : new TextEncoder().encode(key).length
  if (bytes <= LONGEST_ENTITY_KEY_BYTES) return undefined
  return `expected an entity key of at most ${LONGEST_ENTITY_KEY_BYTES} bytes, got ${bytes}`
}
