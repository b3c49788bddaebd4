import { decodeName, encodeName, type SlotKey } from '@cronce/core'

/** The label of the jobs beyond the bound. No definition may be told from them any more. */
export const OTHER_JOBS = 'other'

/** Jobs that are told apart; a service may have more, made at run time. */
export const MOST_JOBS = 1_000

/** Values of the label `job_name`: bounded, whatever a service defines at run time. */
export class JobLabels {
  readonly #known = new Map<string, string>()
  readonly #most: number

  constructor(most = MOST_JOBS) {
    this.#most = most
  }

  /** The label of a job. */
  of(job: string): string {
    return this.#remember(encodeName(job), job)
  }

  /** The label of the job of a slot: the part before the instant, which no encoded name contains. */
  ofSlot(slot: SlotKey): string {
    const encoded = slot.slice(0, slot.indexOf('@', 1))
    return this.#known.get(encoded) ?? this.#remember(encoded, decodeName(encoded))
  }

  #remember(encoded: string, job: string): string {
    const known = this.#known.get(encoded)
    if (known !== undefined) return known
    if (this.#known.size >= this.#most) return OTHER_JOBS
    this.#known.set(encoded, job)
    return job
  }
}
