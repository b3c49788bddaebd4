/** Which parts of its payloads a job does not show: everything, or fields by their paths. */
export type Redaction = 'all' | readonly string[]

/** What stands where something is not shown. */
export const REDACTED = '[redacted]'

/** Shorter values are in too many words that have nothing to do with them. */
const SHORTEST_VALUE = 4
const MOST_VALUES = 1_000

/** A payload as it may be shown. */
export interface RedactedPayload {
  readonly payload: unknown
  /** The values that are hidden, as text, longest first: a message may hold them as well. 1,000 at most. */
  readonly values: readonly string[]
}

/**
 * Takes out of a payload what a job does not show. `customer.email` is the field of a field; `*` is any field; elements of a list are
 * looked through without a name of their own, so `items.iban` is the `iban` of every item. A path that is not there hides nothing.
 */
export function redactPayload(payload: unknown, redaction: Redaction): RedactedPayload {
  const values = new Set<string>()
  const paths = redaction === 'all' ? [[]] : redaction.map((path) => path.split('.'))
  const hide = (value: unknown): string => {
    collect(value, values)
    return REDACTED
  }
  const shown = paths.reduce<unknown>((value, path) => without(value, path, hide), payload)
  return { payload: shown, values: [...values].toSorted((a, b) => b.length - a.length) }
}

/** A text without the values that are hidden. */
export function withoutValues(text: string, values: readonly string[]): string {
  return values.reduce((shown, value) => shown.replaceAll(value, REDACTED), text)
}

function without(value: unknown, path: readonly string[], hide: (value: unknown) => string): unknown {
  const [name, ...rest] = path
  if (name === undefined) return value === undefined || value === REDACTED ? value : hide(value)
  if (Array.isArray(value)) return value.map((each) => without(each, path, hide))
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(([key, inner]) => {
    return [key, name === '*' || key === name ? without(inner, rest, hide) : inner] as const
  })
  return Object.fromEntries(fields)
}

function collect(value: unknown, values: Set<string>): void {
  if (values.size >= MOST_VALUES) return
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) collect(inner, values)
  } else if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') {
    const text = String(value)
    if (text.length >= SHORTEST_VALUE && text !== REDACTED) values.add(text)
  }
}
