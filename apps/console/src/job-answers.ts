// What the API answers about one job, for the server that writes it and the page that reads it. Instants are epoch ms, durations ms.

import type { JobAnswer, Mark } from './answers.ts'

/** A setting in words: its name, and what it means. */
export type Wording = readonly [name: string, text: string]

/** One setting that an edit changed, as JSON texts; empty where it was not set. */
export interface SettingChange {
  readonly path: string
  readonly before: string
  readonly after: string
}

/** A definition that was in force. */
export interface GenerationAnswer {
  readonly generation: number
  readonly sinceAt: number
  readonly untilAt: number | null
  readonly by: string
  readonly image: string
  readonly schedule: string
  /** Against the generation before it. */
  readonly changes: readonly SettingChange[]
}

export interface JobEventAnswer {
  readonly at: number
  readonly event: string
  readonly by: string
  readonly note: string
  readonly image: string | null
}

/** A night on which clocks change under the schedule. */
export interface ClockChangeAnswer {
  readonly date: string
  readonly text: string
}

export interface JobDetailsAnswer {
  readonly now: number
  readonly job: JobAnswer
  readonly dynamic: boolean
  readonly image: string
  readonly registeredAt: number
  readonly words: readonly Wording[]
  /** As stored. */
  readonly settings: unknown
  /** Newest first. */
  readonly generations: readonly GenerationAnswer[]
  /** Newest first, at most {@link MOST_EVENTS}. */
  readonly events: readonly JobEventAnswer[]
  /** Of the next year. */
  readonly clockChanges: readonly ClockChangeAnswer[]
}

export interface NextSlotAnswer {
  readonly slot: string
  readonly at: number
  readonly local: string
  /** Later than `at` by the spread. */
  readonly startsAt: number
  readonly note: string | null
}

export interface NextSlotsAnswer {
  readonly now: number
  readonly zone: string
  readonly slots: readonly NextSlotAnswer[]
  readonly clockChanges: readonly ClockChangeAnswer[]
  /** What to ask the following page from. */
  readonly next: number | null
}

/** A run as a point of the charts. */
export interface PointAnswer {
  readonly slot: string
  readonly at: number
  readonly mark: Mark
  /** Null also for what was asked for long after its slot: by hand, or as a backfill. */
  readonly latenessMs: number | null
  readonly durationMs: number | null
  /** To the following slot, by the schedule in force now; null for runs by hand. */
  readonly intervalMs: number | null
}

export interface Spread {
  readonly count: number
  readonly p50: number
  readonly p95: number
  readonly most: number
}

export interface FiguresAnswer {
  readonly now: number
  /** Oldest first. */
  readonly points: readonly PointAnswer[]
  readonly lateness: Spread | null
  readonly duration: Spread | null
  /** The longest duration as a share of its interval. */
  readonly fullest: { readonly slot: string; readonly share: number } | null
  readonly marks: Readonly<Partial<Record<Mark, number>>>
  /** Slots in gaps: one point cannot show them. */
  readonly inGaps: number
  readonly older: string | null
}

export interface BackfillPlanAnswer {
  readonly job: string
  readonly fromAt: number
  readonly toAt: number
  readonly slots: number
  readonly toRun: number
  readonly done: number
  readonly underWay: number
  readonly refused: readonly { readonly reason: string; readonly count: number }[]
  /** The first of those that are to run. */
  readonly first: readonly string[]
}

/** A backfill that this console runs, or ran last. */
export interface BackfillAnswer {
  readonly plan: BackfillPlanAnswer
  readonly by: string
  readonly why: string | null
  readonly intervalMs: number
  readonly startedAt: number
  readonly endedAt: number | null
  readonly state: 'running' | 'stopping' | 'ended' | 'stopped' | 'failed'
  readonly ended: number
  readonly total: number
  /** In hand, and what it waits for. */
  readonly slot: string | null
  readonly standing: string
  readonly ran: Readonly<Record<string, number>>
  readonly elsewhere: number
  readonly error: string | null
}

export interface BackfillsAnswer {
  readonly now: number
  readonly backfill: BackfillAnswer | null
}

/** What an audit of one job came to. */
export interface JobAuditAnswer {
  readonly job: string
  readonly expected: number
  readonly recorded: number
  readonly missing: number
  readonly double: number
  readonly unexpected: number
  readonly fault: string
  readonly outcome: 'adds-up' | 'does-not-add-up'
}

export interface AuditedSlotAnswer {
  readonly job: string
  readonly slot: string | null
  readonly problem: string
  readonly count: number
  readonly reason: string
}

export interface JobAuditsAnswer {
  readonly now: number
  readonly fromAt: number
  readonly toAt: number
  readonly jobs: readonly JobAuditAnswer[]
  readonly slots: readonly AuditedSlotAnswer[]
  readonly next: string | null
}

/** What changed since the last one, as the live stream tells it. `jobs` null: anything may have. */
export interface ChangeAnswer {
  readonly jobs: readonly string[] | null
  readonly presence: boolean
}
