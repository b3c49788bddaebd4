/** The last signal of each job that was read, to compare the next one with. */
export class JobSignals {
  readonly #signals = new Map<string, string>()

  /** Of jobs that were read, those whose signal is another than the last one; what is read for the first time has changed nothing. */
  changed(read: ReadonlyMap<string, string>): string[] {
    const changed = [...read].filter(([job, signal]) => (this.#signals.get(job) ?? signal) !== signal)
    for (const [job, signal] of read) this.#signals.set(job, signal)
    return changed.map(([job]) => job)
  }

  /** Forgets every job but these: removed ones would add up as long as somebody listens. */
  keepOnly(jobs: Iterable<string>): void {
    const kept = new Set(jobs)
    for (const job of this.#signals.keys()) if (!kept.has(job)) this.#signals.delete(job)
  }
}
