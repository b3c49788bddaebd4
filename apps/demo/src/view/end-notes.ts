import type { Clock } from '@cronce/core'
import type { EndNote } from './facts.ts'

/** Kills and other ends of processes, as they are told. */
export interface EndNotes {
  note(text: string): void
  /** Newest first. */
  notes(): readonly EndNote[]
  /** Hears of every note from now on. */
  onNote(listener: (text: string) => void): void
}

const KEPT = 10

export function createEndNotes(clock: Clock): EndNotes {
  const kept: EndNote[] = []
  const listeners: ((text: string) => void)[] = []
  return {
    note(text) {
      kept.unshift({ at: clock.now(), text })
      if (kept.length > KEPT) kept.pop()
      for (const listener of listeners) listener(text)
    },
    notes: () => kept,
    onNote: (listener) => void listeners.push(listener),
  }
}
