/** Which parts of its payloads a job does not show: everything, or fields by their paths. */
export type Redaction = 'all' | readonly string[]

/** What stands where something is not shown. */
export const REDACTED = '[redacted]'

/** Shorter values are in too many words that have nothing to do with them. */
const SHORTEST_VALUE = 4
const MOST_VALUES = 1_000

/** What stands for a text from which too much would have to be taken out. */
const TOO_MANY = '[redacted: more values than can be taken out]'

/** A payload as it may be shown. */
export interface RedactedPayload extends HiddenValues {
  readonly payload: unknown
}

/** What a message may hold as well of what is hidden. */
export interface HiddenValues {
  /** As text, longest first. 1,000 at most. */
  readonly values: readonly string[]
  /** `part`: there are more, so that no message can be shown. */
  readonly extent: 'whole' | 'part'
}

/**
 * Takes out of a payload what a job does not show. `customer.email` is the field of a field; `*` is any field; elements of a list are
 * looked through without a name of their own, so `items.iban` is the `iban` of every item. A path that is not there hides nothing.
 */
export function redactPayload(payload: unknown, redaction: Redaction): RedactedPayload {
  const values = new Set<string>()
  let extent: HiddenValues['extent'] = 'whole'
  const paths = redaction === 'all' ? [[]] : redaction.map((path) => path.split('.'))
  const hide = (value: unknown): string => {
    if (!collect(value, values)) extent = 'part'
    return REDACTED
  }
  const shown = paths.reduce<unknown>((value, path) => without(value, path, hide), payload)
  return { payload: shown, values: [...values].toSorted((a, b) => b.length - a.length), extent }
}

/** A text without the values that are hidden; nothing of it where they are too many to be looked for. */
export function withoutValues(text: string, { values, extent }: HiddenValues): string {
  if (extent === 'part') return TOO_MANY
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

/** Whether there was room for all of them. */
function collect(value: unknown, values: Set<string>): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).every((inner) => collect(inner, values))
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') return true
  const text = String(value)
  if (text.length < SHORTEST_VALUE || text === REDACTED || values.has(text)) return true
  if (values.size >= MOST_VALUES) return false
  values.add(text)
  return true
}
