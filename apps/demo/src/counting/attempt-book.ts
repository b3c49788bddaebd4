/** One line of a replica about one slot that it tried. */
export interface AttemptLine {
  readonly event: 'slot.claimed' | 'slot.lost'
  readonly slot: string
}

export interface AttemptCounts {
  /** Distinct pairs of replica and slot: a replica that tries a slot again has still made one attempt. */
  readonly attempts: number
  /** Attempts that took the slot. More than one per slot where a claim's lease ended. */
  readonly wins: number
}

/** Who tried which slot, as the replicas' own log lines say. Slots by name are kept up to {@link KEPT_SLOTS}, newest. */
export interface AttemptBook {
  note(replica: string, line: AttemptLine): void
  /** What happened to these slots. */
  count(slots: readonly string[]): AttemptCounts
  /** Everything since the start. */
  total(): AttemptCounts
  /** Replicas that tried this slot. */
  triedBy(slot: string): ReadonlySet<string>
  /** The last replica that took it. */
  claimedBy(slot: string): string | undefined
}

/** More slots than any bounded run counts. */
const KEPT_SLOTS = 20_000

interface SlotAttempts {
  readonly replicas: Set<string>
  readonly winners: Set<string>
}

export function createAttemptBook(): AttemptBook {
  const slots = new Map<string, SlotAttempts>()
  const total = { attempts: 0, wins: 0 }
  return {
    note(replica, { event, slot }) {
      const entry = slots.get(slot) ?? { replicas: new Set(), winners: new Set() }
      if (slots.size >= KEPT_SLOTS && !slots.has(slot)) slots.delete(slots.keys().next().value ?? '')
      slots.set(slot, entry)
      if (!entry.replicas.has(replica)) total.attempts += 1
      entry.replicas.add(replica)
      if (event !== 'slot.claimed' || entry.winners.has(replica)) return
      total.wins += 1
      entry.winners.add(replica)
    },
    count(wanted) {
      const found = wanted.map((slot) => slots.get(slot))
      const sum = (size: (entry: SlotAttempts) => number) =>
        found.reduce((before, entry) => before + (entry === undefined ? 0 : size(entry)), 0)
      return { attempts: sum(({ replicas }) => replicas.size), wins: sum(({ winners }) => winners.size) }
    },
    total: () => ({ ...total }),
    triedBy: (slot) => slots.get(slot)?.replicas ?? new Set(),
    claimedBy: (slot) => [...(slots.get(slot)?.winners ?? [])].at(-1),
  }
}
