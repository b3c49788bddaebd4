import { describeValue, type Redaction, redactPayload, withoutValues } from '@cronce/core'
import type { KeptError } from '@cronce/store'

/** The longest message and stack that are kept, in characters. */
export const LONGEST_MESSAGE = 2_000
export const LONGEST_STACK = 8_000

/** How many causes are followed. */
const MOST_CAUSES = 5

/** A thrown value as text. */
export interface ThrownValue {
  readonly name: string
  readonly message: string
  readonly stack?: string
}

/**
 * Any thrown value as text of limited size: an error of any realm, a string, nothing, a cycle of causes, a frozen object, a revoked
 * proxy. Never throws itself, and never keeps the value alive.
 */
export function describeThrown(thrown: unknown): ThrownValue {
  try {
    if (typeof thrown === 'string') return { name: 'string', message: cut(thrown, LONGEST_MESSAGE) }
    if (typeof thrown === 'object' && thrown !== null) return describeObject(thrown)
  } catch {
    return { name: 'unreadable', message: 'a value that cannot be read was thrown' }
  }
  return { name: typeof thrown, message: `${describeValue(thrown)} was thrown` }
}

function describeObject(thrown: object): ThrownValue {
  const message = readText(thrown, 'message')
  const stack = readText(thrown, 'stack')
  if (message === undefined && stack === undefined) {
    return { name: 'object', message: `${describeValue(thrown)} was thrown` }
  }
  const name = readText(thrown, 'name') || 'Error'
  const kept = { name: cut(name, 100), message: cut(message ?? '', LONGEST_MESSAGE) }
  const trace = [stack ?? `${kept.name}: ${kept.message}`, ...causes(thrown)].join('\n')
  return stack === undefined && trace.indexOf('\n') < 0 ? kept : { ...kept, stack: cut(trace, LONGEST_STACK) }
}

function causes(thrown: object): string[] {
  const seen = new Set<unknown>([thrown])
  const lines: string[] = []
  let current = readProperty(thrown, 'cause')
  while (current !== undefined && current !== null && lines.length < MOST_CAUSES) {
    if (seen.has(current)) return [...lines, '[cause]: (circular)']
    seen.add(current)
    const isObject = typeof current === 'object'
    const text = isObject ? readText(current, 'stack') || readText(current, 'message') : undefined
    lines.push(`[cause]: ${cut(text ?? describeValue(current), LONGEST_MESSAGE)}`)
    current = isObject ? readProperty(current, 'cause') : undefined
  }
  return lines
}

function readText(source: object, property: string): string | undefined {
  const value = readProperty(source, property)
  return typeof value === 'string' ? value : undefined
}

/** A getter that throws, or a proxy, hides one property and not the whole error. */
function readProperty(source: object, property: string): unknown {
  try {
    return (source as Record<string, unknown>)[property]
  } catch {
    return undefined
  }
}

function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}...`
}

/** A thrown value as text that says nothing of what the job does not show of these payloads. */
export function describeRedacted(
  thrown: unknown,
  { payloads, redact }: { payloads: readonly unknown[]; redact: Redaction | undefined },
): ThrownValue {
  const described = describeThrown(thrown)
  if (redact === undefined) return described
  const hidden = redactPayload(payloads, redact)
  const { name, message, stack } = described
  // A name is one of a few: without what was found, it is shown also where a message cannot be.
  const shown = { name: withoutValues(name, { ...hidden, extent: 'whole' }), message: withoutValues(message, hidden) }
  return stack === undefined ? shown : { ...shown, stack: withoutValues(stack, hidden) }
}

/** A failed attempt as the store keeps it: JSON of a {@link KeptError}. */
export function keptError(
  thrown: unknown,
  attempt: { number: number; at: number; worker: string; payload?: unknown; redact?: Redaction | undefined },
): string {
  const error: KeptError = {
    ...describeRedacted(thrown, { payloads: [attempt.payload], redact: attempt.redact }),
    attempt: attempt.number,
    at: attempt.at,
    worker: attempt.worker,
  }
  return JSON.stringify(error)
}
