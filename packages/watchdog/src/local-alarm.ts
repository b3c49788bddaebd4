import type { SlotKey } from '@cronce/core'
import type { AlarmEntry, AlarmLetter, RaisedAlarm } from '@cronce/store'
import { type Condition, changeAlarms } from './condition.ts'
import { deliverLetters, type Postman } from './deliver-letters.ts'
import { instantText } from './instant-text.ts'

/** What a trigger knows without the store (T13). */
export interface LocalFacts {
  /** Since when it has not reached the store, this clock; undefined: it reaches it. */
  readonly failingSinceAt: number | undefined
  /** What is due by its own reckoning. */
  readonly dueSlots: readonly SlotKey[]
}

/** How long the store may be out of reach while something is due, ms: longer than a failover. */
export const OUT_OF_REACH_MS = 10_000

/** Slots that a reason names. */
const MOST_NAMED = 5

/** T13: what is the matter by what this process knows alone. Pure. */
export function judgeLocally(
  { failingSinceAt, dueSlots }: LocalFacts,
  { who, now }: { who: string; now: number },
): Condition[] {
  const [slot] = dueSlots
  if (failingSinceAt === undefined || slot === undefined || now - failingSinceAt < OUT_OF_REACH_MS) return []
  const more = dueSlots.length > MOST_NAMED ? ` and ${dueSlots.length - MOST_NAMED} more` : ''
  const reason = `replica ${who} cannot reach Redis since ${instantText(failingSinceAt, now)}; due and waiting for it: ${dueSlots.slice(0, MOST_NAMED).join(', ')}${more}`
  return [
    { key: `store-out-of-reach replica ${who}`, kind: 'store-out-of-reach', slot, sinceAt: failingSinceAt, reason },
  ]
}

/** Alarms of this process alone, delivered from its memory: the store, which has those of the fleet, is what is away. */
export class LocalAlarms {
  readonly #postman: Postman
  #raised: readonly RaisedAlarm[] = []
  #letters: (AlarmLetter & { readonly againAt: number })[] = []
  #unwritten: Omit<AlarmEntry, 'id'>[] = []
  #sequence = 0

  constructor(postman: Postman) {
    this.#postman = postman
  }

  get raised(): readonly RaisedAlarm[] {
    return this.#raised
  }

  /** When there is something to deliver again; undefined: nothing. */
  get nextAt(): number | undefined {
    return this.#letters.length === 0 ? undefined : Math.min(...this.#letters.map(({ againAt }) => againAt))
  }

  /** Judges, tells what changed, and tries what is to be delivered. */
  async look(facts: LocalFacts, now: number): Promise<readonly AlarmEntry[]> {
    const { by, events, notifiers } = this.#postman
    // A slot that another replica took meanwhile is due here no longer; as long as the store is away, the alarm stands.
    const found = judgeLocally(facts, { who: by, now })
    const isAway = facts.failingSinceAt !== undefined
    const change = changeAlarms(this.#raised, found.length === 0 && isAway ? this.#raised : found, { by, now })
    this.#raised = change.raised
    const entries = change.entries.map((entry) => ({ ...entry, id: `${by}-${now}-${(this.#sequence += 1)}` }))
    for (const entry of entries)
      events.emit(entry.event === 'cleared' ? 'alarm.cleared' : 'alarm.raised', factsOf(entry))
    this.#unwritten.push(...change.entries)
    if (notifiers.length > 0)
      this.#letters.push(...entries.map((entry) => ({ entry, attempts: 0, delivered: [], againAt: now })))
    await this.#deliver(now)
    return entries
  }

  /** What the journal of the service does not have yet; it is the caller's from here on. */
  takeUnwritten(): readonly Omit<AlarmEntry, 'id'>[] {
    const unwritten = this.#unwritten
    this.#unwritten = []
    return unwritten
  }

  async #deliver(now: number): Promise<void> {
    const due = this.#letters.filter(({ againAt }) => againAt <= now)
    const { outcomes, journal } = await deliverLetters(this.#postman, due, now)
    this.#unwritten.push(...journal)
    const again = outcomes.flatMap((outcome) =>
      outcome.againAt === undefined ? [] : [{ ...outcome, againAt: outcome.againAt }],
    )
    this.#letters = [...this.#letters.filter((letter) => !due.includes(letter)), ...again]
  }
}

/** An entry without what only the journal needs. */
export function factsOf({ key, kind, job, slot, sinceAt, reason }: Condition): Condition {
  return { key, kind, ...(job === undefined ? {} : { job }), ...(slot === undefined ? {} : { slot }), sinceAt, reason }
}
