import { defineJob, every } from '@cronce/core'
import type { LedgerEntry } from '@cronce/store'
import { describe, expect, it } from 'vitest'
import { type Company, describeDelay, describeRun } from './overdue-reason.ts'

const job = defineJob({ name: 'settlement', schedule: every('1h'), onCrash: 'skip', queue: 'finance', version: 2 })

const nobody: Company = { now: 0, replicas: [], workers: [] }
const about = { release: '1', host: 'h', pid: 1, startedAt: 0, heardAt: 0 }

function replica(state: 'live' | 'silent' | 'left', images: Record<string, string>): Company['replicas'][number] {
  return { ...about, id: 'r', state, skewMs: 0, jobs: 1, loopLateMs: 0, tzdata: '2025c', images }
}

function worker(queues: Record<string, number>, handlers: Record<string, number>): Company['workers'][number] {
  return { ...about, id: 'w', state: 'live', queues, handlers, active: 0 }
}

function entry(state: LedgerEntry['state']): LedgerEntry {
  const entities = { planned: 10, done: 4, dead: 0, abandoned: 0, skipped: 0, duplicates: 0 }
  return { state, claimedBy: 'pod-3', entities } as LedgerEntry
}

describe('why a slot is not recorded', () => {
  it.each([
    ['no trigger alive', []],
    ['no trigger alive', [replica('silent', { settlement: 'x' }), replica('left', { settlement: 'x' })]],
    ['none of 1 live replicas carries the job', [replica('live', { other: 'x' })]],
    ['not claimed, though 1 live replica should have', [replica('live', { settlement: 'x' })]],
  ])('is: %s', (reason, replicas) => {
    expect(describeDelay(job, { ...nobody, replicas })).toBe(reason)
  })
})

describe('why a run does not start or end', () => {
  it.each([
    ['due', 'no trigger alive', []],
    ['claimed', 'claimed by pod-3, not seen on the queue since', []],
    ['enqueued', 'no worker serves queue "finance"', [worker({ default: 1 }, { settlement: 2 })]],
    [
      'enqueued',
      'no worker of queue "finance" has a handler for version 2',
      [worker({ finance: 1 }, { settlement: 1 })],
    ],
    ['enqueued', 'waits in queue "finance", which 1 worker serves', [worker({ finance: 1 }, { settlement: 2 })]],
    ['running', 'still running: 4 of 10 entities done', [worker({ finance: 1 }, { settlement: 2 })]],
    ['running', 'no worker serves queue "finance"', []],
  ] as const)('in state %s is: %s', (state, reason, workers) => {
    expect(describeRun(entry(state), job, { ...nobody, workers })).toBe(reason)
  })
})
