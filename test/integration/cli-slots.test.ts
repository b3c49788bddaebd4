import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CliRun, cronce } from './cli-run.ts'

interface SlotRow {
  readonly at: string
  readonly local: string
  readonly note: string | null
}

/** Cases of the preview (C77): name, arguments, instants, a part of the note of a slot by its index. */
const CASES: readonly (readonly [string, readonly string[], readonly string[], Readonly<Record<number, string>>])[] = [
  [
    'C02 a local time that does not exist',
    ['--cron', '30 2 * * *', '--zone', 'America/New_York', '--from', '2026-03-08T06:30:00Z'],
    ['2026-03-08T07:00:00.000Z', '2026-03-09T06:30:00.000Z'],
    { 0: '02:30 does not exist' },
  ],
  [
    'C02 the same, skipped',
    ['--cron', '30 2 * * *', '--zone', 'America/New_York', '--missing-time', 'skip', '--from', '2026-03-08T06:30:00Z'],
    ['2026-03-09T06:30:00.000Z', '2026-03-10T06:30:00.000Z'],
    {},
  ],
  [
    'C02 the same, shifted',
    ['--cron', '30 2 * * *', '--zone', 'America/New_York', '--missing-time', 'shift', '--from', '2026-03-08T06:30:00Z'],
    ['2026-03-08T07:30:00.000Z', '2026-03-09T06:30:00.000Z'],
    { 0: 'does not exist' },
  ],
  [
    'C08 a local time that comes twice',
    ['--cron', '0 2 * * *', '--zone', 'Europe/Berlin', '--from', '2023-10-28T12:00:00Z'],
    ['2023-10-29T00:00:00.000Z', '2023-10-30T01:00:00.000Z'],
    { 0: 'comes twice' },
  ],
  [
    'C08 the same, both times',
    ['--cron', '0 2 * * *', '--zone', 'Europe/Berlin', '--repeated-time', 'both', '--from', '2023-10-28T12:00:00Z'],
    ['2023-10-29T00:00:00.000Z', '2023-10-29T01:00:00.000Z', '2023-10-30T01:00:00.000Z'],
    { 0: 'the first', 1: 'the second' },
  ],
  [
    'C16 a midnight that does not exist',
    ['--cron', '0 */2 * * *', '--zone', 'Africa/Cairo', '--from', '2025-04-24T19:10:20Z'],
    ['2025-04-24T20:00:00.000Z', '2025-04-24T23:00:00.000Z', '2025-04-25T01:00:00.000Z', '2025-04-25T03:00:00.000Z'],
    {},
  ],
  [
    'C22c the default zone',
    ['--cron', '0 8 * * *', '--from', '2026-07-01T00:00:00Z'],
    ['2026-07-01T08:00:00.000Z'],
    {},
  ],
  [
    'C26 a stepped star in one day field',
    ['--cron', '0 0 */2 * 1', '--from', '2026-01-01T00:00:00Z'],
    ['2026-01-05T00:00:00.000Z', '2026-01-19T00:00:00.000Z', '2026-02-09T00:00:00.000Z'],
    {},
  ],
  [
    'an interval',
    ['--every', '15m', '--offset', '5m', '--from', '2026-01-01T00:05:00Z'],
    ['2026-01-01T00:20:00.000Z'],
    {},
  ],
]

/** A folder that belongs to no checkout: no definitions, no running system. */
let empty: string

beforeAll(async () => {
  empty = await mkdtemp(join(tmpdir(), 'cronce-cli-'))
})
afterAll(() => rm(empty, { recursive: true, force: true }))

describe.each(['America/New_York', 'Australia/Sydney'])('in a process with TZ=%s', (zone) => {
  it('next gives the slots of every case, whatever the zone of the host', async () => {
    await Promise.all(
      CASES.map(async ([name, args, instants, notes]) => {
        const run = await cronce(['next', ...args, '--count', String(instants.length), '--json'], {
          env: { TZ: zone },
          cwd: empty,
        })
        const slots = slotsOf(run)
        expect([name, run.code, run.err, slots.map(({ at }) => at)]).toEqual([name, 0, '', instants])
        slots.forEach(({ note }, index) => expect([name, index, note]).toEqual([name, index, noteLike(notes[index])]))
      }),
    )
  })
})

function slotsOf(run: CliRun): readonly SlotRow[] {
  return (run.json() as { slots: SlotRow[] }).slots
}

function noteLike(part: string | undefined): unknown {
  return part === undefined ? null : expect.stringContaining(part)
}

describe('next and prev', () => {
  it('prev is next read backwards, strictly before, newest first', async () => {
    const zone = ['--cron', '30 2 * * *', '--zone', 'America/New_York']
    const next = await cronce(['next', ...zone, '--from', '2026-03-06T00:00:00Z', '--count', '5', '--json'])
    const forward = slotsOf(next)
    const last = forward.at(-1)?.at ?? ''
    const prev = await cronce(['prev', ...zone, '--from', last, '--count', '4', '--json'])
    expect(slotsOf(prev)).toEqual(forward.slice(0, 4).toReversed())
  })

  it('shows the zone and UTC to people, within 80 columns', async () => {
    const args = [
      '--cron',
      '30 2 * * *',
      '--zone',
      'America/New_York',
      '--from',
      '2026-03-07T12:00:00Z',
      '--count',
      '2',
    ]
    const { out, code } = await cronce(['next', ...args])
    expect(code).toBe(0)
    expect(out).toMatch(/^ 2026-03-08 03:00 EDT +2026-03-08T07:00:00Z +02:30 does not exist that night$/m)
    expect(out).toMatch(/^ 2026-03-09 02:30 EDT +2026-03-09T06:30:00Z$/m)
    for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  })

  it('knows the jobs of the checkout by name', async () => {
    const run = await cronce(['next', 'package-report', '--count', '2', '--json'])
    expect(run.code).toBe(0)
    expect(slotsOf(run)[0]?.local).toContain('[Europe/Berlin]')
  })

  it('prints a refusal as the one JSON object, exit 2', async () => {
    const run = await cronce(['next', '--cron', '20 15 * *', '--json'])
    expect([run.code, run.err]).toEqual([2, ''])
    expect(run.json()).toEqual({
      error: {
        code: 'CRONCE_SCHEDULE_FIELDS',
        message: 'expected 5 fields (minute hour day month weekday), got 4: "20 15 * *"',
      },
    })
  })

  it('says a refusal on standard error only, where no JSON is asked for', async () => {
    const run = await cronce(['next', '--cron', '20 15 * *\u001b[2J'])
    expect([run.code, run.out]).toEqual([2, ''])
    expect(run.err).toContain('got 4')
    expect(run.err).not.toContain('\u001b')
  })
})
