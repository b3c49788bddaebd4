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

/** Who tried which slot, as the replicas' own log lines say. */
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

interface SlotAttempts {
  readonly replicas: Set<string>
  readonly winners: Set<string>
}

export function createAttemptBook(): AttemptBook {
  const slots = new Map<string, SlotAttempts>()
  const count = (wanted: Iterable<SlotAttempts | undefined>): AttemptCounts => {
    const found = [...wanted].filter((entry) => entry !== undefined)
    const sum = (size: (entry: SlotAttempts) => number) => found.reduce((total, entry) => total + size(entry), 0)
    return { attempts: sum(({ replicas }) => replicas.size), wins: sum(({ winners }) => winners.size) }
  }
  return {
    note(replica, { event, slot }) {
      const entry = slots.get(slot) ?? { replicas: new Set(), winners: new Set() }
      slots.set(slot, entry)
      entry.replicas.add(replica)
      if (event === 'slot.claimed') entry.winners.add(replica)
    },
    count: (wanted) => count(wanted.map((slot) => slots.get(slot))),
    total: () => count(slots.values()),
    triedBy: (slot) => slots.get(slot)?.replicas ?? new Set(),
    claimedBy: (slot) => [...(slots.get(slot)?.winners ?? [])].at(-1),
  }
}
