import { cron, defineJob, formatSlotId, jobSettings } from '@cronce/core'
import type { JobFacts, UnendedSlot } from '@cronce/store'
import { expect, it } from 'vitest'
import { figuresOf } from './job-figures.ts'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const ONE = Date.UTC(2026, 5, 1, 13)

const settings = jobSettings(
  defineJob({
    name: 'settlement',
    schedule: cron('0 * * * *'),
    onCrash: 'complete',
    tolerance: { start: '5m', finish: '30m' },
  }),
)

function figures(facts: Partial<JobFacts> & { now: number }) {
  const whole: JobFacts = {
    ...{ name: settings.name, sinceAt: 0, watermarkAt: ONE - HOUR_MS, switching: false, registeredAt: 0 },
    ...{ dynamic: false, goneAt: undefined, renamedTo: undefined, pause: undefined, settings },
    ...{ unended: [], knownAt: [], knownInFull: true, gaps: [], durations: [] },
    ...facts,
  }
  return figuresOf(whole, settings)
}

function slot(at: number, fields: Partial<UnendedSlot> = {}): UnendedSlot {
  return {
    ...{
      id: formatSlotId(at),
      at,
      effectiveAt: at,
      state: 'running',
      cause: 'on-time',
      claimedAt: at,
      claimedBy: 'r1',
    },
    ...{ enqueuedAt: at, startedAt: at, startedBy: 'w1', version: 0, waits: false, planned: 1, done: 0 },
    ...fields,
  }
}

it('a slot that has not ended is counted from the slot after it on, whether it runs or nobody claimed it', () => {
  const running = { unended: [slot(ONE)], knownAt: [ONE], watermarkAt: ONE }
  expect(figures({ now: ONE + HOUR_MS - 1, ...running }).unended).toBe(0)
  expect(figures({ now: ONE + HOUR_MS, ...running }).unended).toBe(1)
  expect(figures({ now: ONE + HOUR_MS - 1 }).unended).toBe(0)
  expect(figures({ now: ONE + HOUR_MS + MINUTE_MS }).unended).toBe(1)
})

it('of a long outage every slot but the newest is counted, also beyond those that are named', () => {
  expect(figures({ now: ONE + 199 * HOUR_MS + MINUTE_MS }).unended).toBe(199)
})

it('a paused job owes no start, and a redrive is late by nature', () => {
  const now = ONE + 5 * HOUR_MS + MINUTE_MS
  expect(figures({ now, pause: { state: 'paused', at: ONE - 1, untilAt: undefined } }).unended).toBe(0)
  expect(figures({ now, watermarkAt: now, unended: [slot(ONE, { version: 1 })] }).unended).toBe(0)
})

it('the share of the interval is that of nine of ten runs, and of too few none', () => {
  const durations = Array.from({ length: 10 }, (_, index) => ({
    at: ONE + index * HOUR_MS,
    durationMs: index === 9 ? HOUR_MS : 6 * MINUTE_MS,
  }))
  expect(figures({ now: ONE, durations }).durationShare).toBeCloseTo(0.1)
  expect(figures({ now: ONE, durations: durations.slice(0, 4) }).durationShare).toBeUndefined()
})
