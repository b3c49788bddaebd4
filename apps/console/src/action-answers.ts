/** One change that somebody asked for. Instants in epoch ms. */
export interface ActionAnswer {
  /** Unique with `at`. */
  readonly id: string
  readonly at: number
  readonly by: string
  /** `cli`, `console`, `trigger` or `code`. */
  readonly way: string
  readonly role: string
  readonly action: string
  readonly job: string | null
  /** Slot keys, 100 at most; `moreSlots` counts the rest. */
  readonly slots: readonly string[]
  readonly moreSlots: number
  readonly selection: string | null
  readonly note: string | null
  /** `asked`: it is under way, or its process died in the middle. */
  readonly outcome: 'asked' | 'done' | 'failed'
  readonly result: string
  readonly counts: Readonly<Record<string, number>>
}

/** What people changed, newest first. */
export interface ActionsAnswer {
  readonly now: number
  readonly actions: readonly ActionAnswer[]
  readonly next: string | null
}
