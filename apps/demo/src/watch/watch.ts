import { type AttemptBook, createAttemptBook } from '../counting/attempt-book.ts'
import type { AppLine } from '../processes/app-process.ts'

/** What the demo knows from the log lines of its replicas and workers, kept small however long it runs. */
export interface Watch {
  note(id: string, line: AppLine): void
  readonly attempts: AttemptBook
  /** Chunks of a run that a worker has in its hands: it started them and has not said how they ended. */
  heldChunks(worker: string, slot: string): readonly number[]
  /** Whether a worker has got entities of a run done. */
  hasWorked(worker: string, slot: string): boolean
  /** Lateness of the last starts of any run, ms. */
  readonly latenesses: readonly number[]
  /** The last slots of a job that a replica took or a worker ended, newest last. */
  recent(job: string): readonly RecentSlot[]
  /** Entities that died, of any run. */
  readonly deaths: number
}

export interface RecentSlot {
  readonly slot: string
  readonly claimedBy: string | undefined
  readonly latenessMs: number | undefined
  readonly state: string
}

const KEPT_LATENESSES = 1_000
const KEPT_SLOTS = 3

/** Lines of different processes arrive in any order; a slot only goes on. */
const ORDER: Readonly<Record<string, number>> = { due: 0, claimed: 1, enqueued: 2, running: 3 }
const ENDED = 4

type NoteSlot = (slot: string, id: string, fields: AppLine['fields']) => void

export function createWatch(): Watch {
  const attempts = createAttemptBook()
  const held = new Map<string, Set<string>>()
  const recent = new Map<string, RecentSlot[]>()
  const latenesses: number[] = []
  const worked = new Set<string>()
  let deaths = 0

  function change(slot: string, facts: Partial<RecentSlot>): void {
    const job = slot.slice(0, slot.indexOf('@', 1))
    const slots = recent.get(job) ?? []
    recent.set(job, slots)
    const index = slots.findIndex((known) => known.slot === slot)
    const before = slots[index] ?? { slot, claimedBy: undefined, latenessMs: undefined, state: 'due' }
    const state = rank(facts.state) > rank(before.state) ? facts.state : before.state
    const after = { ...before, ...facts, state: state ?? before.state }
    if (index < 0) slots.push(after)
    else slots[index] = after
    if (slots.length > KEPT_SLOTS) slots.shift()
  }

  function letGo(slot: string, id: string, { chunk }: AppLine['fields']): void {
    held.get(id)?.delete(chunkKey(slot, chunk))
  }

  const noteSlot: Readonly<Record<string, NoteSlot>> = {
    'slot.claimed'(slot, id) {
      attempts.note(id, { event: 'slot.claimed', slot })
      change(slot, { claimedBy: id, state: 'claimed' })
    },
    'slot.lost': (slot, id) => attempts.note(id, { event: 'slot.lost', slot }),
    'slot.enqueued': (slot) => change(slot, { state: 'enqueued' }),
    'run.started'(slot, _, { latenessMs }) {
      const late = Number(latenessMs)
      latenesses.push(late)
      if (latenesses.length > KEPT_LATENESSES) latenesses.shift()
      change(slot, { state: 'running', latenessMs: late })
    },
    'run.ended': (slot, _, { state }) => change(slot, { state: String(state) }),
    'chunk.started': (slot, id, { chunk }) => void held.set(id, (held.get(id) ?? new Set()).add(chunkKey(slot, chunk))),
    'chunk.settled'(slot, id, fields) {
      letGo(slot, id, fields)
      if (Number(fields['done']) > 0) worked.add(`${id} ${slot}`)
    },
    'chunk.handed-back': letGo,
    'chunk.fenced-off': letGo,
    'entity.died'() {
      deaths += 1
    },
  }

  return {
    attempts,
    latenesses,
    note(id, { fields }) {
      const { event, slot } = fields
      if (typeof event !== 'string' || typeof slot !== 'string') return
      if (Object.hasOwn(noteSlot, event)) noteSlot[event]?.(slot, id, fields)
    },
    heldChunks: (worker, slot) =>
      [...(held.get(worker) ?? [])]
        .filter((key) => key.startsWith(`${slot} `))
        .map((key) => Number(key.slice(slot.length + 1))),
    hasWorked: (worker, slot) => worked.has(`${worker} ${slot}`),
    recent: (job) => recent.get(job) ?? [],
    get deaths() {
      return deaths
    },
  }
}

function chunkKey(slot: string, chunk: unknown): string {
  return `${slot} ${String(chunk)}`
}

function rank(state = 'due'): number {
  return ORDER[state] ?? ENDED
}
