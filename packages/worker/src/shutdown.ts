/**
 * How far a worker is on its way out (W9).
 * - `open`: it takes tasks.
 * - `draining`: it takes none and starts no entity; what runs may finish.
 * - `aborting`: signals have fired; what still runs is handed back, or abandoned where `onCrash` is 'skip'.
 */
export type ShutdownPhase = 'open' | 'draining' | 'aborting'

/** The one way from `open` to `aborting`, and who wants to hear of it. */
export class Shutdown {
  #phase: ShutdownPhase = 'open'
  readonly #listeners = new Set<(phase: ShutdownPhase) => void>()

  get phase(): ShutdownPhase {
    return this.#phase
  }

  /** Calls `listener` at every step, and at once where the first is behind us. Returns what stops it. */
  onPhase(listener: (phase: ShutdownPhase) => void): () => void {
    if (this.#phase !== 'open') listener(this.#phase)
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Goes on to a later phase; never back. */
  advance(phase: 'draining' | 'aborting'): void {
    if (this.#phase === phase || this.#phase === 'aborting') return
    this.#phase = phase
    for (const listener of [...this.#listeners]) listener(phase)
  }
}
