import { cron, every } from '@cronce/core'
import { describe, expect, it } from 'vitest'
import { countOwed, overdueSpans, owedBetween, owedSpans } from './audit-owed.ts'

const MINUTE = 60_000
const NOON = Date.parse('2026-06-01T12:00:00Z')
const at = (minute: number) => NOON + minute * MINUTE
const quarter = { schedule: every('15m'), spreadMs: 0 }
const tens = { schedule: cron('*/10 * * * *'), spreadMs: 0 }
const none = { goneAt: undefined }

const minutes = (spans: ReturnType<typeof owedSpans>) =>
  [...owedBetween(spans, 0, at(1_000))].map((slot) => (slot - NOON) / MINUTE)

describe('the past stays past', () => {
  it('owes the old schedule up to the edit, the new one after it', () => {
    const spans = owedSpans(
      [
        { ...quarter, ...none, sinceAt: NOON },
        { ...tens, ...none, sinceAt: at(30) },
      ],
      { ...none, now: at(60) },
    )
    expect(minutes(spans)).toEqual([15, 30, 40, 50, 60])
    expect(countOwed(spans, at(15), at(50))).toBe(3)
  })

  it('owes nothing between a removal and a new registration, nor after a removal', () => {
    const again = owedSpans(
      [
        { ...quarter, ...none, sinceAt: NOON },
        { ...quarter, sinceAt: at(50), goneAt: at(20) },
      ],
      { ...none, now: at(61) },
    )
    expect(minutes(again)).toEqual([15, 60])
    expect(minutes(owedSpans([{ ...quarter, ...none, sinceAt: NOON }], { goneAt: at(31), now: at(61) }))).toEqual([
      15, 30,
    ])
  })

  it('owes nothing twice where two generations began within a millisecond', () => {
    const both = [
      { ...quarter, ...none, sinceAt: NOON },
      { ...tens, ...none, sinceAt: NOON },
    ]
    expect(minutes(owedSpans(both, { ...none, now: at(30) }))).toEqual([10, 20, 30])
  })

  it('counts what is due by its effective instant', () => {
    const spans = owedSpans([{ ...quarter, ...none, spreadMs: 10 * MINUTE, sinceAt: NOON }], { ...none, now: at(34) })
    expect(minutes(spans)).toEqual([15])
  })
})

describe('what must be recorded by now', () => {
  it('is what the watermark passed, and what is older than grace', () => {
    const spans = owedSpans([{ ...quarter, ...none, spreadMs: MINUTE, sinceAt: NOON }], { ...none, now: at(100) })
    expect(minutes(overdueSpans(spans, { watermarkAt: at(30), graceAt: at(20) }))).toEqual([15, 30])
    expect(minutes(overdueSpans(spans, { watermarkAt: at(15), graceAt: at(45) }))).toEqual([15, 30])
  })
})
