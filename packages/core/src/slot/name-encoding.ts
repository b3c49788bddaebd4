/**
 * Characters that would break an id somewhere on its way: `:` (BullMQ ids), `{` `}` (Redis Cluster hash tags), `%` (the
 * escape itself), `+` (ends the instant of a slot key), white space and control characters (logs, shells).
 */
const UNSAFE = /[%:{}+\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** A leading `@` is an npm scope and stays; any other is the separator of a slot key. */
const INNER_AT = /(?<!^)@/g

/** Names as nearly all are, which are their own form: looked at first, for they are asked for with every task. */
const PLAIN = /^[\w.-]*$/

/**
 * The form of a service, job or queue name inside keys and ids: itself, with unsafe characters percent-encoded as UTF-8.
 * Reversible by {@link decodeName}; two names never share a form.
 *
 * @example encodeName('billing:daily') // 'billing%3Adaily'
 */
export function encodeName(name: string): string {
  return PLAIN.test(name) ? name : name.replaceAll(UNSAFE, percentEncode).replaceAll(INNER_AT, '%40')
}

/** The form of an entity key inside a dead letter's id. As {@link encodeName}, but `@` needs no escape there. */
export function encodeEntityKey(key: string): string {
  return PLAIN.test(key) ? key : key.replaceAll(UNSAFE, percentEncode)
}

/** The name or key that {@link encodeName} or {@link encodeEntityKey} was given. Malformed escapes are left as they are. */
export function decodeName(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}

function percentEncode(character: string): string {
  return Array.from(
    new TextEncoder().encode(character),
    (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
  ).join('')
}
