import { describe, expect, it } from 'vitest'
import { type Facts, frameOf } from './frame.ts'

const FACTS: Facts = {
  redisUrl: 'redis://127.0.0.1:6379',
  upMs: 75_400,
  replicas: ['replica-1', 'replica-2'],
  workers: ['worker-3'],
  ends: ['12 s ago: killed worker-1 (SIGKILL) with chunk 87 of the report in its hands; worker-3 starts'],
  jobs: [
    {
      name: 'cache-refresh',
      schedule: 'every 1s',
      slots: [{ slot: 'cache-refresh@20261129T020000Z', claimedBy: 'replica-2', latenessMs: 4.4, state: 'succeeded' }],
    },
    { name: 'daily-digest', schedule: '0 8 * * 1-5 America/New_York', slots: [] },
  ],
  report: {
    slot: 'package-report@20261129T020000Z+manual-1',
    state: 'running',
    planned: 20_000,
    done: 9_999,
    dead: 1,
    expected: 20_000,
  },
  overdue: ['settlement@20261129T020000Z: due 15 s ago, not started: no worker serves queue "finance"'],
  attempts: { attempts: 10, wins: 2 },
  lateness: { p50: 4, p99: undefined },
  deadLetters: 1,
  effects: { accepted: 9_999, repeat: 7, refused: 3 },
}

describe('the live view', () => {
  const lines = frameOf(FACTS, 120)
  const text = lines.join('\n')

  it('says who claimed which slot, how late, and what became of it', () => {
    expect(text).toMatch(/cache-refresh@20261129T020000Z +replica-2 +4 ms +succeeded/)
    expect(text).toMatch(/daily-digest +- +- +0 8 \* \* 1-5 America\/New_York/)
  })

  it('shows the progress of the report, who is overdue and why, and what was killed', () => {
    expect(text).toContain('[############------------] 9999 of 20000 planned done, 1 dead')
    expect(text).toContain('no worker serves queue "finance"')
    expect(text).toContain('killed worker-1 (SIGKILL) with chunk 87')
  })

  it('tells what to type to look closer', () => {
    expect(text).toContain('npm run cronce -- runs')
    expect(text).toContain('npm run cronce -- dead list')
    expect(frameOf({ ...FACTS, deadLetters: 0 }, 120).join('\n')).not.toContain('dead list')
  })

  it('fits the terminal', () => {
    for (const line of frameOf(FACTS, 60)) expect(line.length).toBeLessThanOrEqual(60)
  })

  it('shows a system that has not done anything yet', () => {
    const none = frameOf({ ...FACTS, ends: [], jobs: [], report: undefined, overdue: [] }, 120)
    expect(none.join('\n')).toContain('report    none yet')
  })
})
