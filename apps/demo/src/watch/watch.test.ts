import { describe, expect, it } from 'vitest'
import { createWatch } from './watch.ts'

const REPORT = 'package-report@20261129T020000Z'
const CACHE = 'cache-refresh@20261129T020001Z'

function watching() {
  const watch = createWatch()
  return { watch, say: (id: string, fields: Record<string, unknown>) => watch.note(id, { text: '', fields }) }
}

describe('the watch', () => {
  it('knows which chunks of a run a worker has in its hands', () => {
    const { watch, say } = watching()
    for (const chunk of [1, 2, 3, 4]) say('worker-1', { event: 'chunk.started', slot: REPORT, chunk })
    say('worker-1', { event: 'chunk.started', slot: CACHE, chunk: 1 })
    say('worker-2', { event: 'chunk.started', slot: REPORT, chunk: 9 })
    say('worker-1', { event: 'chunk.settled', slot: REPORT, chunk: 1 })
    say('worker-1', { event: 'chunk.handed-back', slot: REPORT, chunk: 2 })
    say('worker-1', { event: 'chunk.fenced-off', slot: REPORT, chunk: 3 })
    expect(watch.heldChunks('worker-1', REPORT)).toEqual([4])
    expect(watch.heldChunks('worker-3', REPORT)).toEqual([])
  })

  it('takes a slot only forward, in whatever order the lines of several processes arrive', () => {
    const { watch, say } = watching()
    say('replica-2', { event: 'slot.claimed', slot: CACHE })
    say('worker-1', { event: 'run.started', slot: CACHE, latenessMs: 7 })
    say('worker-1', { event: 'run.ended', slot: CACHE, state: 'succeeded' })
    say('replica-2', { event: 'slot.enqueued', slot: CACHE })
    expect(watch.recent('cache-refresh')).toEqual([
      { slot: CACHE, claimedBy: 'replica-2', latenessMs: 7, state: 'succeeded' },
    ])
    expect(watch.latenesses).toEqual([7])
  })

  it('counts attempts and deaths, and passes over what it does not know', () => {
    const { watch, say } = watching()
    say('replica-1', { event: 'slot.claimed', slot: CACHE })
    say('replica-2', { event: 'slot.lost', slot: CACHE, by: 'replica-1' })
    say('worker-1', { event: 'entity.died', slot: REPORT, entity: 'a' })
    say('worker-1', { event: 'toString', slot: REPORT })
    say('worker-1', { msg: 'listening' })
    expect(watch.attempts.count([CACHE])).toEqual({ attempts: 2, wins: 1 })
    expect(watch.deaths).toBe(1)
  })
})
