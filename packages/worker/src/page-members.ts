import { createHash } from 'node:crypto'
import { describeValue, type EntityShape, entityKeyFault, LONGEST_ENTITY_KEY_BYTES } from '@cronce/core'
import type { MemberFault, PlanMember } from '@cronce/store'
import { describeThrown } from './thrown-value.ts'

/** The largest payload of one entity, in bytes of JSON. */
export const LARGEST_ENTITY_BYTES = 256 * 1024

/** How much of a payload that cannot be executed is kept for its dead letter, in characters. */
const KEPT_PAYLOAD = 4_000

/** A page as the plan keeps it. */
export interface PlannedPage {
  readonly members: readonly PlanMember[]
  /** The key of the last entity that has one of its own: the default cursor. */
  readonly lastKey: string | undefined
}

/**
 * Gives every payload of a page its key and its JSON. What has no key, is too large or cannot be serialised is planned under a key
 * made from its text, to become a dead letter when its chunk runs (W2): nothing is dropped in silence, and reading the page again
 * gives the same keys. Never throws.
 */
export function planMembers(shape: EntityShape<unknown>, payloads: readonly unknown[]): PlannedPage {
  const page = new GrowingPage(shape)
  for (const payload of payloads) page.add(payload)
  return page
}

/** A page whose entities come one by one, as {@link planMembers} makes it. */
export class GrowingPage implements PlannedPage {
  readonly members: PlanMember[] = []
  lastKey: string | undefined
  readonly #shape: EntityShape<unknown>
  readonly #nameless = new Map<string, number>()

  constructor(shape: EntityShape<unknown>) {
    this.#shape = shape
  }

  add(payload: unknown): PlanMember {
    const member = this.#plan(payload)
    this.members.push(member)
    return member
  }

  #plan(payload: unknown): PlanMember {
    const key = readKey(this.#shape, payload)
    const text = serialise(payload)
    if (key.ok !== undefined) this.lastKey = key.ok
    const fault = key.fault ?? text.fault
    if (fault === undefined) return { key: key.ok ?? '', payload: text.ok ?? 'null' }
    const kept = keepPayload(payload)
    return { key: key.ok ?? makeKey(kept, this.#nameless), payload: kept, fault }
  }
}

type Reading =
  | { readonly ok: string; readonly fault?: undefined }
  | { readonly ok?: undefined; readonly fault: MemberFault }

/** The key of the entity as its schema reads it; where the schema refuses it, that of the raw payload, if it has one. */
function readKey(shape: EntityShape<unknown>, payload: unknown): Reading {
  let thrown: unknown
  try {
    return judgeKey(shape.key(shape.parse(payload)))
  } catch (error) {
    thrown = error
  }
  try {
    const reading = judgeKey(shape.key(payload))
    if (reading.ok !== undefined) return reading
  } catch {
    // The schema's own complaint says more than that of the key function.
  }
  return { fault: { reason: 'invalid', message: `its key cannot be computed: ${describeThrown(thrown).message}` } }
}

function judgeKey(key: unknown): Reading {
  const message = entityKeyFault(key)
  if (message === undefined) return { ok: key as string }
  const isLong = typeof key === 'string' && Buffer.byteLength(key) > LONGEST_ENTITY_KEY_BYTES
  return { fault: { reason: isLong ? 'too large' : 'invalid', message } }
}

function serialise(payload: unknown): Reading {
  try {
    const text = JSON.stringify(payload) as string | undefined
    if (text === undefined)
      return { fault: { reason: 'invalid', message: `expected JSON, got ${describeValue(payload)}` } }
    const bytes = text.length * 3 > LARGEST_ENTITY_BYTES ? Buffer.byteLength(text) : text.length
    if (bytes <= LARGEST_ENTITY_BYTES) return { ok: text }
    return {
      fault: {
        reason: 'too large',
        message: `expected a payload of at most ${LARGEST_ENTITY_BYTES} bytes, got ${bytes}`,
      },
    }
  } catch (thrown) {
    return { fault: { reason: 'invalid', message: `it cannot be written as JSON: ${describeThrown(thrown).message}` } }
  }
}

/** A payload as far as it can be kept, as JSON: numbers too large become text, cycles and unreadable parts a remark. */
function keepPayload(payload: unknown): string {
  const above: unknown[] = []
  try {
    const text = JSON.stringify(payload, function keep(this: unknown, _, value: unknown) {
      if (typeof value === 'bigint') return `${value}n`
      if (typeof value !== 'object' || value === null) return value
      while (above.length > 0 && above.at(-1) !== this) above.pop()
      if (above.includes(value)) return '(circular)'
      above.push(value)
      return value
    }) as string | undefined
    if (text !== undefined)
      return text.length <= KEPT_PAYLOAD ? text : JSON.stringify(`${text.slice(0, KEPT_PAYLOAD)}...`)
  } catch {
    // A getter or a toJSON that throws.
  }
  return JSON.stringify(describeValue(payload))
}

function makeKey(kept: string, nameless: Map<string, number>): string {
  const hash = createHash('sha256').update(kept).digest('hex').slice(0, 12)
  const count = (nameless.get(hash) ?? 0) + 1
  nameless.set(hash, count)
  return `#${hash}-${count}`
}
