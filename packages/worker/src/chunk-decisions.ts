import { type Backoff, type CrashPolicy, CronceError, type Random, retryDelay } from '@cronce/core'
import type { ChunkMember, ChunkStart } from '@cronce/store'
import { readWish } from './handler-errors.ts'

/**
 * How a chunk's entities are run, up to its concurrency at once.
 * - `together`: without marks (`complete`).
 * - `marked`: each behind a durable mark (`skip`, W5).
 * - `watched`: each behind a durable mark as well, for a worker died with this chunk in its hands; those that were marked when one died
 *   are its suspects, and run afterwards, alone (`complete`, W6).
 */
export type ChunkMode = 'together' | 'marked' | 'watched'

/** An entity that ends without another attempt. */
export interface ForegoneEnd {
  readonly member: ChunkMember
  readonly verdict: 'dead' | 'abandoned'
  readonly reason: string
  readonly error: CronceError
  /** Attempts that have ended, with this end. */
  readonly attempts: number
}

export interface ChunkChoice {
  readonly mode: ChunkMode
  readonly ends: readonly ForegoneEnd[]
  /** Still to run, in plan order; some of them not yet. */
  readonly members: readonly ChunkMember[]
  /** Those of which one may have taken a worker down: to run after the others, alone, one at a time. */
  readonly suspects: readonly ChunkMember[]
  /** How many of the others run at once. */
  readonly width: number
}

export interface CrashRules {
  readonly onCrash: CrashPolicy
  /** How many entities of the chunk run at once. */
  readonly concurrency: number
  /** Crashes alone, after which an entity is a dead letter. */
  readonly crashLimit: number
  readonly worker: string
}

/** Crashes of a chunk beyond those that its entities account for: of workers that died before the first mark. */
const UNEXPLAINED_CRASHES = 10

/** So many crashes may be chance; with each one more, half as many run at once: it may take several together to bring a worker down. */
const CRASHES_AT_FULL_WIDTH = 2

/** W5, W6: which of a chunk's entities run now, how, and which have ended without another attempt. */
export function chooseMembers(start: Pick<ChunkStart, 'members' | 'crashes'>, rules: CrashRules): ChunkChoice {
  const mode = rules.onCrash === 'skip' ? 'marked' : start.crashes > 0 ? 'watched' : 'together'
  // Each may take one worker down among others before it does so alone.
  const isBeyondHelp = start.crashes > start.members.length * (rules.crashLimit + 1) + UNEXPLAINED_CRASHES
  const width = mode === 'watched' ? watchedWidth(rules.concurrency, start.crashes) : rules.concurrency
  const ends: ForegoneEnd[] = []
  const left: ChunkMember[] = []
  for (const member of start.members) {
    if (member.state === 'done' || member.state === 'dead' || member.state === 'abandoned') continue
    const end = foregoneEnd(member, mode, rules) ?? (isBeyondHelp ? crashed(member, start.crashes) : undefined)
    if (end === undefined) left.push(member)
    else ends.push(end)
  }
  // Where all that is left fits into one go, marks would tell nothing that is not known.
  const isSuspect = (member: ChunkMember) =>
    mode === 'watched' && (member.state === 'started' || left.length <= width || width === 1)
  const suspects = left.filter(isSuspect)
  const members = suspects.length === 0 ? left : left.filter((member) => !isSuspect(member))
  return { mode, ends, members, suspects, width }
}

function watchedWidth(concurrency: number, crashes: number): number {
  return Math.max(1, Math.floor(concurrency / 2 ** Math.max(0, crashes - CRASHES_AT_FULL_WIDTH)))
}

function foregoneEnd(member: ChunkMember, mode: ChunkMode, rules: CrashRules): ForegoneEnd | undefined {
  if (member.fault !== undefined) {
    const { reason, message } = member.fault
    const error = new CronceError('CRONCE_ENTITY_REFUSED', { reason: message })
    return { member, verdict: 'dead', reason, error, attempts: member.attempts }
  }
  if (mode === 'marked' && member.state === 'started') return abandonedEnd(member, 'a worker that died', 'crash')
  if (member.crashes >= rules.crashLimit) return crashed(member, member.crashes)
  return undefined
}

/** W5: started, and its end is not known. */
export function abandonedEnd(member: ChunkMember, worker: string, why: 'crash' | 'timeout' | 'shutdown'): ForegoneEnd {
  const error = new CronceError('CRONCE_ENTITY_ABANDONED', { worker, why })
  return { member, verdict: 'abandoned', reason: 'abandoned', error, attempts: member.attempts + 1 }
}

function crashed(member: ChunkMember, crashes: number): ForegoneEnd {
  const error = new CronceError('CRONCE_ENTITY_CRASHED', { crashes })
  return { member, verdict: 'dead', reason: 'crashed', error, attempts: member.attempts }
}

export interface RetryRules {
  readonly attempts: number
  readonly backoff: Backoff
  readonly random: Random
  readonly now: number
  /** Until then, a handler that asks for later uses up no attempt. */
  readonly laterUntilAt: number
}

export interface FailureVerdict {
  /** `later`: another attempt follows, and this one is not one of those that the job allows. */
  readonly verdict: 'retry' | 'later' | 'dead'
  readonly reason: string
  /** Attempts that have ended, this one included. */
  readonly attempts: number
  /** 0 where there is none. */
  readonly delayMs: number
}

export interface Failure {
  readonly kind: 'thrown' | 'timeout' | 'invalid'
  /** Counts from 1, over redrives. */
  readonly attempt: number
  /** Those of earlier lives, and those that asked for later: they use up nothing. */
  readonly attemptsBefore: number
  readonly thrown: unknown
}

/** What follows when an attempt failed. */
export function judgeFailure(failure: Failure, rules: RetryRules): FailureVerdict {
  const { kind, attempt, attemptsBefore, thrown } = failure
  const attemptOfLife = attempt - attemptsBefore
  if (kind === 'invalid') return { verdict: 'dead', reason: 'invalid', attempts: attempt, delayMs: 0 }
  const wish = kind === 'thrown' ? readWish(thrown) : { kind: 'retry' as const }
  if (wish.kind === 'later' && rules.now + wish.afterMs <= rules.laterUntilAt) {
    // Promise 5: a start is counted although it uses up nothing, so that no two starts have one number.
    return { verdict: 'later', reason: 'later', attempts: attempt, delayMs: wish.afterMs }
  }
  if (wish.kind === 'never' || attemptOfLife >= rules.attempts) {
    return { verdict: 'dead', reason: kind === 'timeout' ? 'timeout' : 'failed', attempts: attempt, delayMs: 0 }
  }
  const delayMs = Math.max(
    retryDelay(rules.backoff, attemptOfLife, rules.random),
    wish.kind === 'later' ? wish.afterMs : 0,
  )
  return { verdict: 'retry', reason: 'failed', attempts: attempt, delayMs }
}
