import { readFileSync } from 'node:fs'
import {
  type CronOptions,
  countBetween,
  cron,
  lastSlot,
  type MissingTime,
  nextSlot,
  type RepeatedTime,
  type Schedule,
  slotsBetween,
} from '@cronce/core'
import { describe, expect, it } from 'vitest'

interface CronCase {
  readonly id: string
  readonly source: string
  readonly kind: 'next' | 'prev' | 'never' | 'reject'
  readonly expr: string
  readonly tz: string
  readonly from: string
  readonly expectNext: readonly string[]
  readonly expectPrev?: readonly string[]
  readonly policyAnswers: Readonly<Record<string, readonly string[] | string>> | null
  readonly tzOmitted?: boolean
  readonly countBetween?: { readonly from: string; readonly to: string; readonly count: number; readonly last: string }
  readonly thenNext?: readonly string[]
  readonly lastDueAtFrom?: string
}

const cases = JSON.parse(
  readFileSync(new URL('../data/cron-cases.json', import.meta.url), 'utf8'),
) as readonly CronCase[]

/** What a policy of the table is called here; the others answer questions that have one fixed answer. */
const POLICIES: Readonly<Record<string, CronOptions>> = {
  'gap:gap-end': { missingTime: 'at-gap-end' satisfies MissingTime },
  'gap:skip': { missingTime: 'skip' },
  'gap:shift-forward': { missingTime: 'shift' },
  'overlap:first': { repeatedTime: 'first' satisfies RepeatedTime },
  'overlap:second': { repeatedTime: 'second' },
  'overlap:both': { repeatedTime: 'both' },
  'interval:real-time': {},
  'either (POSIX/Vixie)': {},
  'star (Vixie): odd-dated Mondays': {},
  wrap: {},
  'seconds-first': {},
}

/** Answers of other engines to questions that Cronce does not leave open; the answer must differ from these. */
const NOT_OFFERED = new Set([
  'interval:wall-clock (gap-end, first)',
  'both',
  'restricted: odd dates or Mondays',
  'supported',
  'refuse',
])

function scheduleOf(row: CronCase, options: CronOptions = {}): Schedule {
  const seconds = row.expr.trim().split(/\s+/).length === 6
  return cron(row.expr, { ...(row.tzOmitted ? {} : { zone: row.tz }), ...(seconds ? { seconds } : {}), ...options })
}

function walk(schedule: Schedule, row: CronCase, count: number): readonly string[] {
  const found: string[] = []
  for (let at = Date.parse(row.from); found.length < count; ) {
    const slot = row.kind === 'prev' ? lastSlot(schedule, at - 1) : nextSlot(schedule, at)
    if (slot === undefined) break
    found.push(new Date(slot).toISOString())
    at = slot
  }
  return found
}

describe('public bug reports of cron libraries', () => {
  for (const row of cases) {
    const name = `${row.id} (${row.source}): ${row.expr} in ${row.tz} from ${row.from}`
    if (row.kind === 'reject' || row.kind === 'never') {
      it(`${name} is refused within 100 ms`, () => {
        const before = process.cpuUsage()
        expect(() => scheduleOf(row)).toThrowError(
          expect.objectContaining({ code: expect.stringMatching(/^CRONCE_SCHEDULE_/) }),
        )
        // Of this process's own time: a busy machine is no fault of the search.
        expect(process.cpuUsage(before).user).toBeLessThan(100_000)
      })
      continue
    }
    it(`${name} under the reference policy`, () => {
      const expected = row.expectPrev ?? row.expectNext
      const schedule = scheduleOf(row)
      expect(walk(schedule, row, expected.length)).toEqual(expected)
      if (row.thenNext !== undefined)
        expect(walk(schedule, { ...row, kind: 'next', from: expected[0] ?? '' }, 1)).toEqual(row.thenNext)
      if (row.lastDueAtFrom !== undefined)
        expect(lastSlot(schedule, Date.parse(row.from))).toBe(Date.parse(row.lastDueAtFrom))
      if (row.countBetween !== undefined) {
        const { from, to, count, last } = row.countBetween
        expect(countBetween(schedule, Date.parse(from), Date.parse(to))).toBe(count)
        expect([...slotsBetween(schedule, Date.parse(from), Date.parse(to))].at(-1)).toBe(Date.parse(last))
      }
    })
    for (const [policy, expected] of Object.entries(row.policyAnswers ?? {})) {
      it(`${name} under ${policy}`, () => {
        if (typeof expected === 'string' || NOT_OFFERED.has(policy)) {
          expect(NOT_OFFERED).toContain(policy)
          expect(walk(scheduleOf(row), row, expected.length)).not.toEqual(expected)
          return
        }
        const options = POLICIES[policy]
        if (options === undefined) throw new Error(`no option stands for ${policy}`)
        expect(walk(scheduleOf(row, options), row, expected.length)).toEqual(expected)
      })
    }
  }

  it('refuses six fields where they were not asked for', () => {
    expect(() => cron('15 23 * * 1-5 *')).toThrowError(expect.objectContaining({ code: 'CRONCE_SCHEDULE_FIELDS' }))
  })
})
