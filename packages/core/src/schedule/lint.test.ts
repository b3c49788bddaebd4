import { describe, expect, it } from 'vitest'
import { type ScheduledJob, scheduleWarnings } from './lint.ts'
import { cron, every } from './schedule.ts'

const from = Date.parse('2026-06-01T00:00:00Z')

function warningsOf(job: Omit<ScheduledJob, 'name'>): readonly string[] {
  return scheduleWarnings([{ name: 'job', ...job }], { from }).map(({ kind, text }) => `${kind}: ${text}`)
}

describe('scheduleWarnings', () => {
  it('has nothing to say about a plain job', () => {
    expect(warningsOf({ schedule: cron('0 2 * * *'), timeoutMs: 60_000, toleranceStartMs: 600_000 })).toEqual([])
    expect(warningsOf({ schedule: every('15m'), timeoutMs: 900_000 })).toEqual([])
  })

  it('tells of the transitions of the year ahead', () => {
    expect(warningsOf({ schedule: cron('0 2 * * *', { zone: 'Europe/Berlin' }) })).toEqual([
      'transition: 2026-10-25 02:00 comes twice: runs at the first, 00:00Z',
      'transition: 2027-03-28 02:00 does not exist: runs at 03:00 CEST (01:00Z)',
    ])
  })

  it('tells of two restricted day fields, not of one that starts with a star', () => {
    expect(warningsOf({ schedule: cron('0 9 1-7 * TUE') })).toEqual([
      'both-days: "0 9 1-7 * TUE" restricts day of month and day of week: it runs on days that match either, not only where both do',
    ])
    expect(warningsOf({ schedule: cron('0 9 */2 * TUE') })).toEqual([])
  })

  it('tells of slots that come faster than the timeout or a tolerance', () => {
    const schedule = cron('0,10 * * * *')
    expect(
      warningsOf({ schedule, timeoutMs: 600_001, toleranceStartMs: 3_600_000, toleranceFinishMs: 600_000 }),
    ).toEqual([
      'faster-than-timeout: has slots 10m apart, less than its timeout of 600001ms',
      'faster-than-tolerance: has slots 10m apart, less than its start tolerance of 1h',
    ])
    expect(warningsOf({ schedule: every('30s'), toleranceFinishMs: 60_000 })).toEqual([
      'faster-than-tolerance: has slots 30s apart, less than its finish tolerance of 1m',
    ])
  })

  it('tells once of jobs that start in one second, and not of spread ones', () => {
    const names = Array.from({ length: 12 }, (_, index) => `report-${index}`)
    const piled = names.map((name) => ({ name, schedule: cron('0 5 * * *') }))
    expect(scheduleWarnings(piled, { from })).toEqual([
      {
        job: 'report-0',
        kind: 'pile-up',
        text: '12 jobs start in one second, such as 2026-06-01T05:00:00.000Z: report-0, report-1, report-2 and 9 more; a spread would part them',
        jobs: names,
      },
    ])
    expect(scheduleWarnings(piled.slice(0, 9), { from })).toEqual([])
    expect(scheduleWarnings(piled.slice(0, 9), { from, pileUp: 9 })).toHaveLength(1)
    const spread = names.map((name) => ({ name, schedule: cron('0 5 * * *', { spread: '1h' }) }))
    expect(scheduleWarnings(spread, { from })).toEqual([])
  })
})
