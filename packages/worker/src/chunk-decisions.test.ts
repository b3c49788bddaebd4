import type { ChunkMember, MemberState } from '@cronce/store'
import { describe, expect, it } from 'vitest'
import { type CrashRules, chooseMembers, judgeFailure } from './chunk-decisions.ts'
import { NonRetryableError, RetryLaterError } from './handler-errors.ts'

function member(index: number, state: MemberState = 'fresh', more: Partial<ChunkMember> = {}): ChunkMember {
  const facts = {
    index,
    key: `e${index}`,
    payload: {},
    state,
    attempts: 0,
    attemptsBefore: 0,
    nextAttemptAt: 0,
    crashes: 0,
    fault: undefined,
  }
  return { ...facts, ...more }
}

const complete = { onCrash: 'complete', concurrency: 2, crashLimit: 2, worker: 'w' } as const
const skip = { ...complete, onCrash: 'skip' } as const

function choose(members: ChunkMember[], rules: CrashRules, crashes = 0) {
  const { mode, ends, members: left, suspects } = chooseMembers({ members, crashes }, rules)
  return {
    mode,
    ends: ends.map((end) => [end.member.index, end.verdict, end.reason, end.attempts]),
    left: left.map(({ index }) => index),
    ...(suspects.length === 0 ? {} : { suspects: suspects.map(({ index }) => index) }),
  }
}

describe('the entities of a chunk', () => {
  it('run together, in plan order, without those that have ended', () => {
    const members = [
      member(0, 'done'),
      member(1),
      member(2, 'retrying', { attempts: 1 }),
      member(3, 'dead'),
      member(4, 'abandoned'),
    ]
    expect(choose(members, complete)).toEqual({ mode: 'together', ends: [], left: [1, 2] })
  })

  it('run behind marks after a crash, where they must complete, and those that were marked at one run alone (W6)', () => {
    const members = [member(0, 'done'), member(1), member(2, 'started'), member(3, 'retrying'), member(4)]
    expect(choose(members, complete, 1)).toEqual({ mode: 'watched', ends: [], left: [1, 3, 4], suspects: [2] })
  })

  it('all run alone after a crash where those that are left could all have been under way (W6)', () => {
    const members = [member(0, 'done'), member(1), member(2)]
    expect(choose(members, complete, 1)).toEqual({ mode: 'watched', ends: [], left: [], suspects: [1, 2] })
  })

  it('that took their worker down alone twice are dead, and only they', () => {
    const members = [
      member(0, 'started', { crashes: 1 }),
      member(1, 'started', { crashes: 2, attempts: 1 }),
      member(2),
      member(3),
    ]
    const ends = [[1, 'dead', 'crashed', 1]]
    expect(choose(members, { ...complete, concurrency: 8 }, 4)).toEqual({
      mode: 'watched',
      ends,
      left: [2, 3],
      suspects: [0],
    })
  })

  it('run by ever fewer at once from the third crash on, at last alone: several together may bring a worker down (W6)', () => {
    const members = Array.from({ length: 20 }, (_, index) => member(index))
    const after = (crashes: number) => chooseMembers({ members, crashes }, { ...complete, concurrency: 8 })
    expect([0, 1, 2, 3, 4, 5].map((crashes) => after(crashes).width)).toEqual([8, 8, 8, 4, 2, 1])
    expect(after(4)).toMatchObject({ suspects: [], members: { length: 20 } })
    expect(after(5)).toMatchObject({ members: [], suspects: { length: 20 } })
  })

  it('all run alone after a crash where each runs alone anyway, so that the next one is somebody’s (W6)', () => {
    const rules = { ...complete, concurrency: 1 }
    expect(chooseMembers({ members: [member(0), member(1)], crashes: 1 }, rules).suspects).toHaveLength(2)
  })

  it('are all given up where workers keep dying without an entity to blame', () => {
    expect(choose([member(0), member(1)], complete, 16).suspects).toEqual([0, 1])
    expect(choose([member(0), member(1)], complete, 17)).toMatchObject({
      left: [],
      ends: [
        [0, 'dead', 'crashed', 0],
        [1, 'dead', 'crashed', 0],
      ],
    })
  })

  it('that were started are abandoned, not started again, where they may not be repeated (W5)', () => {
    const members = [member(0, 'done'), member(1, 'started', { attempts: 1 }), member(2)]
    expect(choose(members, skip, 1)).toEqual({ mode: 'marked', ends: [[1, 'abandoned', 'abandoned', 2]], left: [2] })
  })

  it('that the plan found faults with are dead before their handler', () => {
    const fault = { reason: 'too large', message: 'expected less' }
    expect(choose([member(0, 'fresh', { fault }), member(1)], skip)).toEqual({
      mode: 'marked',
      ends: [[0, 'dead', 'too large', 0]],
      left: [1],
    })
  })
})

describe('an attempt that failed', () => {
  const backoff = { type: 'exponential', delayMs: 100, capMs: 10_000, jitter: 0 } as const
  const rules = { attempts: 3, backoff, random: () => 0.5, now: 1_000, laterUntilAt: 60_000 }
  const judge = (kind: 'thrown' | 'timeout' | 'invalid', attempt: number, thrown: unknown = new Error('no')) =>
    judgeFailure({ attemptsBefore: 0, kind, attempt, thrown }, rules)

  it('is followed by another after a wait that grows, until attempts are used up', () => {
    expect(judge('thrown', 1)).toEqual({ verdict: 'retry', reason: 'failed', attempts: 1, delayMs: 100 })
    expect(judge('thrown', 2)).toEqual({ verdict: 'retry', reason: 'failed', attempts: 2, delayMs: 200 })
    expect(judge('thrown', 3)).toEqual({ verdict: 'dead', reason: 'failed', attempts: 3, delayMs: 0 })
    expect(judge('timeout', 3)).toMatchObject({ verdict: 'dead', reason: 'timeout' })
  })

  it('counts on over a redrive, which gives fresh attempts', () => {
    const failure = { kind: 'thrown', attemptsBefore: 3, thrown: new Error('no') } as const
    expect(judgeFailure({ ...failure, attempt: 4 }, rules)).toMatchObject({
      verdict: 'retry',
      attempts: 4,
      delayMs: 100,
    })
    expect(judgeFailure({ ...failure, attempt: 6 }, rules)).toMatchObject({ verdict: 'dead', attempts: 6 })
  })

  it('is the last where the payload or the handler says so', () => {
    expect(judge('invalid', 1)).toMatchObject({ verdict: 'dead', reason: 'invalid', attempts: 1 })
    expect(judge('thrown', 1, new NonRetryableError('closed'))).toMatchObject({ verdict: 'dead', reason: 'failed' })
    // Of another copy of the package.
    expect(judge('thrown', 1, Object.assign(new Error('x'), { name: 'NonRetryableError' }))).toMatchObject({
      verdict: 'dead',
    })
  })

  it('has a number, and uses up nothing, where the handler asked for later, until the run is overdue', () => {
    const later = new RetryLaterError({ after: '30s' })
    expect(judge('thrown', 3, later)).toEqual({ verdict: 'later', reason: 'later', attempts: 3, delayMs: 30_000 })
    const overdue = { ...rules, now: 31_000 }
    expect(judgeFailure({ attemptsBefore: 0, kind: 'thrown', attempt: 1, thrown: later }, overdue)).toEqual({
      verdict: 'retry',
      reason: 'failed',
      attempts: 1,
      delayMs: 30_000,
    })
    expect(judgeFailure({ attemptsBefore: 0, kind: 'thrown', attempt: 3, thrown: later }, overdue)).toMatchObject({
      verdict: 'dead',
    })
  })

  it('may have thrown anything', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    for (const thrown of [
      undefined,
      null,
      'text',
      7,
      proxy,
      Object.freeze({}),
      {
        get name() {
          throw new Error('trap')
        },
      },
    ]) {
      expect(judge('thrown', 1, thrown)).toMatchObject({ verdict: 'retry', attempts: 1 })
    }
  })
})
