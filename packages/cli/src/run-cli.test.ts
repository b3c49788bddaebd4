import { systemClock } from '@cronce/core'
import { describe, expect, it } from 'vitest'
import { runCli } from './run-cli.ts'
import { plain } from './text/tone.ts'

interface Said {
  readonly code: number
  readonly out: string
  readonly err: string
}

async function say(...args: readonly string[]): Promise<Said> {
  const said = { out: '', err: '' }
  const terminal = {
    out: async (text: string) => {
      said.out += text
    },
    err: (text: string) => {
      said.err += text
    },
    width: 80,
    paint: plain,
  }
  const folder = import.meta.dirname
  const code = await runCli({
    args,
    clock: systemClock,
    folder,
    terminal,
    environment: () => ({ REDIS_URL: undefined, CRONCE_SERVICE: undefined }),
  })
  return { code, ...said }
}

describe('with --json', () => {
  it.each([
    [['next', '--cron', '20 15 * *'], 'CRONCE_SCHEDULE_FIELDS'],
    [['next', '--cron', '0 0 31 4 *'], 'CRONCE_SCHEDULE_NEVER'],
    [['next', '--cron', '0 0 * * *', '--zone', 'CEST'], 'CRONCE_SCHEDULE_ZONE'],
    [['next', '--cron', '0 0 15W * *'], 'CRONCE_SCHEDULE_TOKEN'],
    [['next', '--every', '0.5s'], 'CRONCE_SCHEDULE_VALUE'],
    [['next', '--cron', '* * * * *', '--count', '0'], 'CRONCE_USAGE'],
    [['next', '--cron', '* * * * *', '--count', '1e9'], 'CRONCE_USAGE'],
    [['next', '--cron', '* * * * *', '--from', '2026-02-30T00:00:00Z'], 'CRONCE_USAGE'],
    [['prev', '--cron', '* * * * *', '--from', '2026-03-07T12:00:00'], 'CRONCE_USAGE'],
    [['next', '--cron', '* * * * *', '--every', '5m'], 'CRONCE_USAGE'],
    [['next', '--every', '5m', '--zone', 'Europe/Berlin'], 'CRONCE_USAGE'],
    [['next', '--cron'], 'CRONCE_USAGE'],
    [['next', '--no-such-option'], 'CRONCE_USAGE'],
    [['next', 'one', 'two'], 'CRONCE_USAGE'],
    [['next'], 'CRONCE_USAGE'],
    [['next', 'package-report', '--jobs', '/no/such/file.js'], 'CRONCE_JOBS_MODULE'],
    [['no-such-verb'], 'CRONCE_USAGE'],
    [['nxt'], 'CRONCE_USAGE'],
    [[], 'CRONCE_USAGE'],
    [['--', '--json'], 'CRONCE_USAGE'],
  ])('refuses %j as one object, and says nothing else', async (args, code) => {
    const { code: exit, out, err } = await say('--json', ...args)
    expect([exit, err]).toEqual([2, ''])
    expect(out.indexOf('\n')).toBe(out.length - 1)
    const answer = JSON.parse(out) as { error: { code: string; message: string } }
    expect(Object.keys(answer)).toEqual(['error'])
    expect(answer.error.code).toBe(code)
    expect(answer.error.message).not.toBe('')
  })

  it('answers help and version as objects', async () => {
    expect(JSON.parse((await say('--version', '--json')).out)).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    })
    expect(JSON.parse((await say('next', '--help', '--json')).out)).toEqual({
      help: expect.stringContaining('Examples:'),
    })
  })
})

describe('for people', () => {
  it('says every fault of the options at once, and what to do', async () => {
    const { code, out, err } = await say('next', '--cron', '* * * *', '--count', 'x', '--from', 'now')
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain('got 4')
    expect(err).toContain('--count')
    expect(err).toContain('--from')
    expect(err).toContain('--help')
  })

  it('names the verb that was meant', async () => {
    expect((await say('nxt')).err).toContain('Did you mean next?')
  })

  it('shows the help where no verb is given, and refuses', async () => {
    const { code, out, err } = await say()
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain('Commands:')
  })
})
