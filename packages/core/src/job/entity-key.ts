import { describeValue } from '../errors/describe-value.ts'

/** The longest entity key, in bytes of UTF-8: it is part of the keys of receipts and of the ids of dead letters. */
export const LONGEST_ENTITY_KEY_BYTES = 512

/**
 * What is wrong with what a definition's `key` returned, or undefined. Never throws. A key is text of any kind, `:`, `/` and
 * white space included: it is encoded where it becomes part of an id.
 */
export function entityKeyFault(key: unknown): string | undefined {
  if (typeof key !== 'string' || key === '') return `expected a non-empty entity key, got ${describeValue(key)}`
  // In Redis, every lone surrogate becomes the same U+FFFD: two entities would share their receipts.
  if (/\p{Cs}/u.test(key)) {
    return `expected an entity key of whole Unicode characters, got a lone surrogate in ${describeValue(key)}`
  }
  // A code unit is at least one byte: an endless key is refused before it is encoded.
  const bytes = key.length > LONGEST_ENTITY_KEY_BYTES ? key.length : new TextEncoder().encode(key).length
  if (bytes <= LONGEST_ENTITY_KEY_BYTES) return undefined
  return `expected an entity key of at most ${LONGEST_ENTITY_KEY_BYTES} bytes, got ${bytes}`
}
