import type { Clock } from '@cronce/core'
import { expect, it } from 'vitest'
import type { Context } from './context.ts'
import { changeShown } from './letter-change.ts'
import { plain } from './text/tone.ts'

function staged(progress: 'redrawn' | 'lines') {
  const written = { out: '', err: '' }
  let now = 0
  let interrupt: (() => void) | undefined
  const clock: Clock = { now: () => now, after: () => () => undefined }
  const context: Context = {
    ...{ global: {}, clock, folder: '/' },
    environment: () => ({ REDIS_URL: undefined, CRONCE_SERVICE: undefined }),
    terminal: {
      out: async (text) => void (written.out += text),
      err: (text) => void (written.err += text),
      ...{ width: 80, paint: plain, progress },
      onInterrupt(stop) {
        interrupt = stop
        return () => (interrupt = undefined)
      },
    },
  }
  return {
    ...{ context, written },
    interrupt: () => interrupt?.(),
    isInterruptible: () => interrupt !== undefined,
    move: (byMs: number) => void (now += byMs),
  }
}

/** A change of so many letters, a hundred at a time. */
const changing = (
  { context, move }: ReturnType<typeof staged>,
  total: number,
  { rate, stepMs = 0 }: { rate?: string; stepMs?: number } = {},
) =>
  changeShown(context, { rate, state: 'queued again' }, async ({ onPlan, onProgress, intervalMs }) => {
    onPlan({ entities: total, runs: 1, abandonedLeft: 0, settled: [] })
    for (let ended = 100; ended < total + 100; ended += 100) {
      move(stepMs)
      onProgress({ ended: Math.min(ended, total), total })
    }
    return intervalMs
  })

it('draws a bar anew where somebody looks, on standard error alone', async () => {
  const stage = staged('redrawn')
  await changing(stage, 300)
  expect(stage.written.out).toBe('')
  expect(stage.written.err).toMatch(/^ 300 entities of 1 run\n/)
  expect(stage.written.err.split('\r')).toHaveLength(4)
  expect(stage.written.err).toContain('[##################]  300/300  queued again')
})

it('writes a line a second at most where nobody looks, and the last one in any case', async () => {
  const stage = staged('lines')
  await changing(stage, 1_000_000, { stepMs: 1 })
  const lines = stage.written.err.trimEnd().split('\n')
  // 10,000 scripts of a millisecond: ten seconds.
  expect(lines.length).toBeLessThan(14)
  expect(lines.at(-1)).toContain('1000000/1000000')
})

it('says nothing of a few that are over at once, unless they are slowed', async () => {
  const few = staged('lines')
  await changing(few, 3)
  expect(few.written.err).toBe('')
  const slow = staged('lines')
  expect(await changing(slow, 3, { rate: '100/min' })).toBe(600)
  expect(slow.written.err).toContain('3/3')
})

it('tells the change to stop at Ctrl-C, and leaves nothing behind', async () => {
  const stage = staged('lines')
  const wasAborted = await changeShown(stage.context, { rate: undefined, state: 'x' }, async ({ signal }) => {
    stage.interrupt()
    return signal.aborted
  })
  expect([wasAborted, stage.isInterruptible()]).toEqual([true, false])
  await expect(changing(stage, 1, { rate: 'fast' })).rejects.toMatchObject({ code: 'CRONCE_USAGE' })
  expect(stage.isInterruptible()).toBe(false)
})
