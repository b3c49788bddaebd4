// What the API answers, for the server that writes it and the page that reads it. Instants are epoch ms, durations ms.

import type { LetterRowAnswer } from './letter-answers.ts'

/** How a slot looks in a strip: what became of it, in the eyes of somebody who looks for trouble. */
export type Mark = 'ran' | 'late' | 'partial' | 'failed' | 'skipped' | 'missed' | 'running' | 'waiting'

export interface Counts {
  readonly planned: number
  readonly done: number
  readonly dead: number
  readonly abandoned: number
  readonly skipped: number
  readonly duplicates: number
}

/** A run, or a span of slots that did not run for one reason (`gap`). */
export interface RunAnswer {
  readonly slot: string
  readonly job: string
  readonly at: number
  readonly local: string
  readonly state: string
  readonly mark: Mark
  readonly cause: string | null
  readonly reason: string | null
  readonly why: string | null
  readonly latenessMs: number | null
  readonly durationMs: number | null
  readonly entities: Counts
  readonly by: string | null
  readonly release: string | null
  readonly gap: { readonly fromAt: number; readonly toAt: number; readonly count: number } | null
}

export interface OverdueAnswer {
  readonly job: string
  readonly slot: string
  readonly kind: 'start' | 'finish'
  readonly at: number
  readonly local: string
  readonly sinceMs: number
  readonly toleranceMs: number
  readonly reason: string
  readonly count: number
}

export interface PauseAnswer {
  readonly state: 'paused' | 'resuming'
  readonly by: string
  readonly note: string
  readonly at: number
  readonly untilAt: number | null
}

export interface JobAnswer {
  readonly name: string
  readonly schedule: string
  readonly zone: string
  readonly queue: string | null
  readonly onCrash: string | null
  readonly description: string | null
  /** Why this release cannot read the stored definition; empty where it can. */
  readonly fault: string
  readonly pause: PauseAnswer | null
  readonly gone: boolean
  /** `local` is with the zone's offset, `at` the same in UTC. */
  readonly next: {
    readonly at: number
    readonly local: string
    readonly startsAt: number
    readonly note: string | null
  } | null
  readonly latenessP50Ms: number | null
  /** The median of the runs in the strip. */
  readonly tookMs: number | null
  readonly intervalMs: number | null
  readonly deadLetters: number
  readonly overdue: readonly OverdueAnswer[]
  readonly running: RunAnswer | null
  /** Oldest first. */
  readonly slots: readonly RunAnswer[]
}

export interface SummaryAnswer {
  readonly overdue: readonly OverdueAnswer[]
  readonly running: readonly RunAnswer[]
  readonly deadLetters: number
  readonly oldestDeadAt: number | null
  readonly replicas: number
  readonly workers: number
  readonly releases: readonly string[]
  readonly skewMs: number
}

export interface SchedulesAnswer {
  readonly service: string
  readonly now: number
  readonly summary: SummaryAnswer
  /** Overdue jobs first, then by name. */
  readonly jobs: readonly JobAnswer[]
  readonly next: string | null
}

export interface RunsAnswer {
  readonly now: number
  readonly runs: readonly RunAnswer[]
  readonly next: string | null
}

export interface EventAnswer {
  readonly at: number
  readonly event: string
  readonly detail: Readonly<Record<string, string | number>>
}

export interface RunDetailsAnswer {
  readonly now: number
  readonly zone: string
  /** A run of its own, beside the schedule. */
  readonly isByHand: boolean
  readonly run: RunAnswer
  readonly record: {
    readonly claimedAt: number | null
    readonly enqueuedAt: number | null
    readonly startedAt: number | null
    readonly startedBy: string | null
    readonly finishedAt: number | null
    readonly claims: number
    readonly starts: number
    readonly crashes: number
    readonly retries: number
    readonly version: number
  } | null
  /** The trace from its claim to its chunks, and where it is seen; null where nothing was traced. */
  readonly trace: { readonly id: string; readonly url: string | null } | null
  /** Null before its plan, and when that is forgotten. */
  readonly chunks: ChunksAnswer | null
  readonly events: readonly EventAnswer[]
  readonly deadLetters: readonly LetterRowAnswer[]
}

/** How far the chunks of a run are; the oldest open ones one by one. */
export interface ChunksAnswer {
  readonly written: number
  readonly closed: number
  readonly plan: 'complete' | 'failed' | 'under-way'
  readonly openCount: number
  readonly open: readonly {
    readonly number: number
    readonly heardAt: number
    readonly entities: number
    readonly left: number
    readonly crashes: number
    readonly worker: string | null
  }[]
}

export interface ProcessAnswer {
  readonly id: string
  readonly state: 'live' | 'silent' | 'left'
  readonly release: string
  readonly host: string
  readonly pid: number
  readonly startedAt: number
  readonly heardAt: number
}

export interface PresenceAnswer {
  readonly now: number
  readonly replicas: readonly (ProcessAnswer & {
    readonly skewMs: number
    readonly loopLateMs: number
    /** How many jobs its image carries. */
    readonly jobs: number
    readonly tzdata: string
  })[]
  readonly workers: readonly (ProcessAnswer & {
    readonly queues: Readonly<Record<string, number>>
    readonly active: number
    /** How many jobs it has handlers for. */
    readonly jobs: number
  })[]
  readonly queues: readonly QueueAnswer[]
}

/** A queue of the service. `workers` 0: nobody serves it. */
export interface QueueAnswer {
  readonly name: string
  readonly jobs: readonly string[]
  readonly workers: number
  /** Tasks that its live workers take at once. */
  readonly places: number
  readonly waiting: number
  readonly active: number
  readonly delayed: number
}

export interface SessionAnswer {
  readonly name: string
  readonly role: 'viewer' | 'operator' | 'admin'
  readonly service: string
}

export interface ErrorAnswer {
  readonly error: {
    readonly code: string
    readonly message: string
    readonly fix?: string
    readonly faults?: readonly { readonly path: string; readonly message: string }[]
    /** What is so by now, where the request came too late. */
    readonly state?: string
  }
}
