import { type Clock, CronceError } from '@cronce/core'
import { describe, expect, it } from 'vitest'
import type { Answer } from './answer.ts'
import type { Context } from './context.ts'
import type { Terminal } from './terminal.ts'
import { plain } from './text/tone.ts'
import { readWatch, watchVerb } from './watch.ts'

const unreachable = () => new CronceError('CRONCE_REDIS_UNREACHABLE', { address: 'x:1', timeoutMs: 1, reason: 'gone' })

/** A terminal and a clock that are moved by hand. */
function staged(height?: number) {
  const written = { out: '', err: '' }
  const timers = new Set<{ readonly delayMs: number; readonly fire: () => void }>()
  let interrupt: (() => void) | undefined
  let now = Date.UTC(2026, 0, 1)
  const clock: Clock = {
    now: () => now,
    after(delayMs, fire) {
      const timer = { delayMs, fire }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
  }
  const terminal: Terminal = {
    out: async (text) => void (written.out += text),
    err: (text) => void (written.err += text),
    width: 80,
    height,
    paint: plain,
    onInterrupt(stop) {
      interrupt = stop
      return () => (interrupt = undefined)
    },
  }
  const environment = () => ({ REDIS_URL: undefined, CRONCE_SERVICE: undefined })
  const context: Context = { global: {}, clock, folder: '/', terminal, environment }
  /** Lets everything that is ready go on. */
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  return {
    ...{ context, written, timers, settle },
    isInterruptible: () => interrupt !== undefined,
    interrupt: () => interrupt?.(),
    tick: async () => {
      await settle()
      const [timer] = timers
      if (timer === undefined) throw new Error('nobody waits')
      timers.delete(timer)
      now += timer.delayMs
      timer.fire()
      await settle()
    },
  }
}

function counted(answers: readonly (Answer['json'] | CronceError)[]) {
  let count = 0
  const read = async (): Promise<Answer> => {
    const answer = answers[Math.min(count, answers.length - 1)] ?? {}
    count += 1
    if (answer instanceof CronceError) throw answer
    return { json: answer, text: () => Object.entries(answer).map(([name, value]) => ` ${name} ${String(value)}`) }
  }
  return { read, count: () => count }
}

describe('--every', () => {
  it('is two seconds unless it is said, and means nothing without --watch', () => {
    expect(readWatch({})).toBeUndefined()
    expect(readWatch({ watch: true })).toBe(2_000)
    expect(readWatch({ watch: true, every: '500ms' })).toBe(500)
    expect(() => readWatch({ every: '5s' })).toThrow('--watch')
  })

  it.each(['0s', '99ms', '2h', '5', 'often', ''])('refuses %j', (every) => {
    expect(() => readWatch({ watch: true, every })).toThrow('from 100ms to 1h')
  })
})

describe('a watch', () => {
  it('with --json writes one object per line, at the interval, until Ctrl-C; then nothing is left running', async () => {
    const { context, written, timers, tick, settle, interrupt, isInterruptible } = staged()
    const { read, count } = counted([{ n: 1 }, { n: 2 }, { n: 3 }])
    const over = watchVerb(read, { context, form: 'json', everyMs: 2_000 })
    await settle()
    expect([written.out, [...timers].map(({ delayMs }) => delayMs)]).toEqual(['{"n":1}\n', [2_000]])
    await tick()
    await tick()
    interrupt()
    await over
    expect([written.out, written.err, count()]).toEqual(['{"n":1}\n{"n":2}\n{"n":3}\n', '', 3])
    expect([timers.size, isInterruptible()]).toEqual([0, false])
  })

  it('tells that Redis is away, goes on, and shows what it reads when it is back', async () => {
    const { context, written, tick, settle, interrupt } = staged()
    const over = watchVerb(counted([{ n: 1 }, unreachable(), { n: 2 }]).read, { context, form: 'json', everyMs: 2_000 })
    await settle()
    await tick()
    await tick()
    interrupt()
    await over
    const lines = written.out.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { n: 1 },
      { error: { code: 'CRONCE_REDIS_UNREACHABLE', message: expect.stringContaining('gone') } },
      { n: 2 },
    ])
  })

  it('fails where the first reading fails, and where something else than Redis does', async () => {
    const first = staged()
    const reading = watchVerb(counted([unreachable()]).read, { context: first.context, form: 'json', everyMs: 100 })
    await expect(reading).rejects.toMatchObject({ code: 'CRONCE_REDIS_UNREACHABLE' })
    const second = staged()
    const unknown = new CronceError('CRONCE_RUN_UNKNOWN', { slot: 'a@b' })
    const watching = watchVerb(counted([{}, unknown]).read, { context: second.context, form: 'json', everyMs: 100 })
    await second.settle()
    const failed = expect(watching).rejects.toBe(unknown)
    await second.tick()
    await failed
    expect([first.isInterruptible(), second.isInterruptible(), second.timers.size]).toEqual([false, false, 0])
  })

  it('draws the terminal anew, within its height, and keeps what it showed while Redis is away', async () => {
    const { context, written, tick, settle, interrupt } = staged(5)
    const many = { a: 1, b: 2, c: 3, d: 4, e: 5 }
    const over = watchVerb(counted([many, { z: 1 }, unreachable()]).read, { context, form: 'text', everyMs: 2_000 })
    await settle()
    await tick()
    await tick()
    interrupt()
    await over
    const [, all = '', few = '', away = ''] = written.out.split('\u001b[H')
    expect(all.split('\n')).toHaveLength(5)
    expect(all).toContain(' ... 3 lines more')
    expect(few).toMatch(/2026-01-01T00:00:02.*Ctrl-C ends.*\n z 1\S*\n\S*$/u)
    expect(away).toMatch(/gone[^\n]*\n what is shown is from 2026-01-01T00:00:02[^\n]*\n z 1/)
    // The screen is cleared once: later only what changed is drawn over.
    expect(written.out.split('\u001b[2J')).toHaveLength(2)
    for (const drawn of [few, away]) expect(drawn.endsWith('\u001b[J')).toBe(true)
  })

  it('writes one reading after the other where nobody looks, without a sign that a terminal acts on', async () => {
    const { context, written, tick, settle, interrupt } = staged()
    const over = watchVerb(counted([{ a: 1 }, unreachable(), { a: 2 }]).read, { context, form: 'text', everyMs: 2_000 })
    await settle()
    await tick()
    await tick()
    interrupt()
    await over
    expect(written.out.match(/^ a \d$/gm)).toEqual([' a 1', ' a 2'])
    expect(written.err).toContain('gone')
    expect(written.out + written.err).not.toContain('\u001b')
  })

  it('ends at once in the middle of a reading that hangs', async () => {
    const { context, written, settle, interrupt } = staged()
    const over = watchVerb(() => new Promise(() => undefined), { context, form: 'json', everyMs: 2_000 })
    await settle()
    interrupt()
    await over
    expect(written.out).toBe('')
  })
})
