const LONGEST_TEXT = 60

/**
 * A value as the `got` of a message: short, on one line, of any value whatever. Never throws.
 *
 * @example describeValue('soon') // '"soon"'
 * @example describeValue(undefined) // 'nothing'
 */
export function describeValue(value: unknown): string {
  try {
    return describe(value)
  } catch {
    // A revoked proxy, a `name` getter that throws.
    return 'a value that cannot be read'
  }
}

function describe(value: unknown): string {
  switch (typeof value) {
    case 'undefined':
      return 'nothing'
    case 'string':
      return quote(value)
    case 'bigint':
      return `${cut(value.toString())}n`
    case 'symbol':
      return 'a symbol'
    case 'function':
      return 'a function'
    case 'object':
      return value === null ? 'null' : describeObject(value)
    default:
      return String(value)
  }
}

function describeObject(value: object): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : `an array of ${value.length}`
  const prototype: unknown = Object.getPrototypeOf(value)
  const kind: unknown =
    prototype === null ? undefined : (value as { constructor?: { name?: unknown } }).constructor?.name
  if (typeof kind === 'string' && kind !== '' && kind !== 'Object') return `a value of class ${cut(kind)}`
  const keys = Object.keys(value)
  return keys.length === 0 ? 'an empty object' : `an object with ${cut(keys.map((key) => quote(key)).join(', '))}`
}

/** Quoted as JSON does it, so that control characters and lone surrogates are seen and not printed. */
function quote(text: string): string {
  return JSON.stringify(cut(text)).replaceAll(
    /[\u007f-\u009f\u2028\u2029]|\p{Cf}/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
}

function cut(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT)}...`
}
