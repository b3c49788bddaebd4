// What the API answers about dead letters and changes of many of them. Instants are epoch ms, durations ms.

export interface LetterRowAnswer {
  readonly id: string
  readonly job: string
  readonly slot: string
  readonly entity: string | null
  readonly reason: string
  readonly state: string
  readonly attempts: number
  readonly lives: number
  readonly at: number
  readonly error: { readonly name: string; readonly message: string } | null
}

export interface LettersAnswer {
  readonly now: number
  /** On all pages; null where every letter would have to be looked at for it. */
  readonly total: number | null
  readonly letters: readonly LetterRowAnswer[]
  readonly next: string | null
}

export interface KeptErrorAnswer {
  readonly at: number
  readonly attempt: number
  readonly name: string
  readonly message: string
  readonly stack: string | null
  readonly worker: string
}

export interface LetterAnswer extends LetterRowAnswer {
  readonly worker: string
  readonly release: string
  readonly payload: unknown
  /** Whether its definition hides a part of it, which an admin may have revealed. */
  readonly redacted: boolean
  readonly errors: readonly KeptErrorAnswer[]
  readonly discardReason: string | null
}

/** What a change of dead letters would come to, as they are now. */
export interface LetterPreviewAnswer {
  readonly entities: number
  readonly runs: number
  /** Abandoned ones that a filter meant and that are left. */
  readonly abandonedLeft: number
  /** When it was looked, by Redis; a change that is given it leaves what died later. */
  readonly selectedAt: number
  /** Named ones that are not open any more, by what they are. */
  readonly settled: readonly { readonly id: string; readonly state: string }[]
}

/** A change of many dead letters that this console makes, or has made. */
export interface LetterChangeAnswer {
  readonly id: string
  readonly verb: 'redrive' | 'discard'
  readonly by: string
  /** What was chosen, in short. */
  readonly selection: string
  readonly rate: string | null
  readonly note: string | null
  readonly startedAt: number
  readonly endedAt: number | null
  /** `stopped`: by somebody, with letters left that are still open. `failed`: `error` says why; what was done stays done. */
  readonly state: 'running' | 'stopping' | 'ended' | 'stopped' | 'failed'
  /** Letters that have had their turn, of how many. */
  readonly ended: number
  readonly total: number
  readonly result: {
    readonly entities: number
    readonly runs: number
    readonly unchanged: number
    readonly left: number
  } | null
  readonly error: string | null
}

export interface LetterChangesAnswer {
  /** Newest first. */
  readonly changes: readonly LetterChangeAnswer[]
}
