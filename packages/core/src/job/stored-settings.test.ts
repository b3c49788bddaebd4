import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cron, every } from '../schedule/schedule.ts'
import { defineJob } from './define-job.ts'
import { jobSettings } from './job-definition.ts'
import { parseJobSettings } from './stored-settings.ts'

const job = defineJob({
  name: '日次/レポート',
  schedule: cron('0 2 * * *', { zone: 'Europe/Berlin' }),
  onCrash: 'complete',
  expire: '2h',
  was: 'report',
  description: 'x',
})
const stored = (): Record<string, unknown> => JSON.parse(JSON.stringify(jobSettings(job)))

const seconds = (least: number, most: number) => fc.integer({ min: least, max: most }).map((count) => count * 1_000)
const anyInput = fc.record(
  {
    name: fc.constantFrom('a', 'eu/daily', 'billing:daily', '日次'),
    schedule: fc.constantFrom(
      every('1s'),
      every('15m'),
      cron('0 2 * * *'),
      cron('0 9 * * 1-5', { zone: 'America/New_York' }),
    ),
    onCrash: fc.constantFrom('skip' as const, 'complete' as const),
    catchUp: fc.record(
      { within: seconds(11, 1_000_000), atMost: fc.integer({ min: 1, max: 50 }) },
      { requiredKeys: [] },
    ),
    tolerance: fc.record({ start: seconds(1, 60), finish: seconds(61, 100_000) }, { requiredKeys: [] }),
    limit: fc.constantFrom(
      { concurrency: 3 },
      { rate: { max: 5, per: '1s' } },
      { concurrency: 1, rate: { max: 1, per: '1m' } },
    ),
    redact: fc.constantFrom('all' as const, ['iban', 'customer.email']),
    timeout: seconds(1, 61),
    expire: seconds(61, 100_000),
    retry: fc.record(
      { attempts: fc.integer({ min: 1, max: 50 }), backoff: fc.record({ delay: seconds(1, 5_000) }) },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['name', 'schedule', 'onCrash'] },
)

describe('parseJobSettings', () => {
  it('reads back, through JSON, the settings of any definition', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const settings = jobSettings(defineJob(input))
        expect(parseJobSettings(JSON.parse(JSON.stringify(settings)))).toEqual({ ok: settings })
      }),
    )
  })

  it('gives equal settings equal JSON, whatever the order of keys in the row', () => {
    const reversed = (value: unknown): unknown =>
      typeof value === 'object' && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .toReversed()
              .map(([key, inner]) => [key, reversed(inner)]),
          )
        : value
    expect(JSON.stringify(parseJobSettings(reversed(stored())).ok)).toBe(JSON.stringify(jobSettings(job)))
  })

  it('gives frozen settings', () => {
    const { ok } = parseJobSettings(stored())
    expect(Object.isFrozen(ok) && Object.isFrozen(ok?.retry.backoff)).toBe(true)
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['a key of a newer image', { spread: 5 }, 'spread'],
    ['a nested key of a newer image', { chunk: { size: 1, concurrency: 1, order: 'random' } }, 'chunk.order'],
    ['a duration in words', { timeoutMs: '1m' }, 'timeoutMs'],
    ['a missing default', { chunk: { size: 100 } }, 'chunk.concurrency'],
    ['an unknown word', { overlap: 'replace' }, 'overlap'],
    ['a field without a name', { redact: ['a..b'] }, 'redact'],
    [
      'a schedule that never occurs',
      { schedule: { ...job.schedule, expression: '0 0 31 2 *' } },
      'schedule.expression',
    ],
    ['a broken relation', { expireMs: 1_000 }, 'expireMs'],
    ['another broken relation', { catchUp: { mode: 'late', withinMs: 10_000, atMost: 1 } }, 'catchUp.withinMs'],
  ])('refuses %s and says where', (_, change, path) => {
    const { ok, faults } = parseJobSettings({ ...stored(), ...change })
    expect(ok).toBeUndefined()
    expect(faults?.map((fault) => fault.path)).toEqual([path])
  })

  it('refuses anything else with faults, and never throws', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(parseJobSettings(value).faults?.length).toBeGreaterThan(0)
      }),
    )
    const revoked = Proxy.revocable({}, {})
    revoked.revoke()
    expect(parseJobSettings(revoked.proxy).faults).toHaveLength(2)
    expect(parseJobSettings({ ...stored(), retry: revoked.proxy }).faults?.length).toBeGreaterThan(0)
  })
})
