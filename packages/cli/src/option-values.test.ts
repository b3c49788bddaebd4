import { isCronceError } from '@cronce/core'
import { describe, expect, it } from 'vitest'
import { readChoice, readCount, readDayOrInstant, readInstant, readRate, readText, readUntil } from './option-values.ts'

function refuses(read: () => unknown): boolean {
  try {
    read()
    return false
  } catch (error) {
    return isCronceError(error, 'CRONCE_USAGE')
  }
}

describe('readInstant', () => {
  it.each([
    ['2026-03-07T12:00:00Z', '2026-03-07T12:00:00.000Z'],
    ['2026-03-07T12:00Z', '2026-03-07T12:00:00.000Z'],
    ['2026-03-07T12:00:00.123456Z', '2026-03-07T12:00:00.123Z'],
    ['2026-03-07T00:30:00+05:45', '2026-03-06T18:45:00.000Z'],
    ['2024-02-29T23:59:59-12:00', '2024-03-01T11:59:59.000Z'],
  ])('reads %s', (text, instant) => {
    expect(new Date(readInstant('--from', text)).toISOString()).toBe(instant)
  })

  it.each([
    '',
    'now',
    '2026-03-07',
    '2026-03-07T12:00:00',
    '2026-03-07 12:00:00Z',
    '2026-02-29T12:00:00Z',
    '2026-02-30T12:00:00+02:00',
    '2026-13-01T00:00:00Z',
    '2026-03-07T24:00:00Z',
    '2026-03-07T12:60:00Z',
    '2026-03-07T12:00:00+2:00',
    '2026-03-07T12:00:00+99:99',
    '2026-03-07T12:00:00[Europe/Berlin]',
    '+275760-09-13T00:00:00Z',
    '1772884800000',
    '2026-03-07T12:00:00Z\n',
  ])('refuses %j', (text) => {
    expect(refuses(() => readInstant('--from', text))).toBe(true)
  })
})

it('reads counts within their limits, and nothing that only looks like one', () => {
  const limits = { least: 1, most: 100 }
  expect([readCount('--count', '1', limits), readCount('--count', '100', limits)]).toEqual([1, 100])
  for (const text of ['0', '101', '-1', '1.5', '1e2', '0x10', ' 1', 'Infinity', '', '99999999999999999999']) {
    expect([text, refuses(() => readCount('--count', text, limits))]).toEqual([text, true])
  }
})

it('reads one of a list, and text within its length', () => {
  expect(readChoice('--state', 'failed', ['failed', 'partial'])).toBe('failed')
  expect(refuses(() => readChoice('--state', 'Failed', ['failed', 'partial']))).toBe(true)
  expect(readText('--why', 'incident 4711', { most: 20 })).toBe('incident 4711')
  expect(refuses(() => readText('--why', ' \n', { most: 20 }))).toBe(true)
  expect(refuses(() => readText('--why', 'x'.repeat(21), { most: 20 }))).toBe(true)
})

describe('readDayOrInstant', () => {
  it('reads a day as its first instant in UTC, and an instant as it is', () => {
    expect(readDayOrInstant('--from', '2026-11-01')).toBe(Date.parse('2026-11-01T00:00:00Z'))
    expect(readDayOrInstant('--from', '2026-11-01T12:00+01:00')).toBe(Date.parse('2026-11-01T11:00:00Z'))
  })

  it.each(['2026-02-30', '2026-11', '01.11.2026', 'yesterday'])('refuses "%s"', (text) => {
    expect(refuses(() => readDayOrInstant('--from', text))).toBe(true)
  })
})

describe('readRate', () => {
  it.each([
    ['2/min', 30_000],
    ['1/s', 1_000],
    ['0.5/s', 2_000],
    ['30/h', 120_000],
    ['7/min', 60_000 / 7],
    ['5000/s', 0.2],
  ])('reads %s as one every %d ms', (text, intervalMs) => {
    expect(readRate('--rate', text)).toBe(intervalMs)
  })

  it.each(['2', '2/day', '0/min', '-1/min', '1e9/s', ' 2/min', '2 / min', ''])('refuses %j', (text) => {
    expect(refuses(() => readRate('--rate', text))).toBe(true)
  })
})

describe('readUntil', () => {
  it('reads an instant or a duration from now', () => {
    expect(readUntil('--until', '2h')).toEqual({ afterMs: 7_200_000 })
    expect(readUntil('--until', '2026-03-07T12:00:00Z')).toEqual({ at: Date.parse('2026-03-07T12:00:00Z') })
  })

  it.each(['2', 'tomorrow', '-2h', '2026-03-07', ''])('refuses %j', (text) => {
    expect(refuses(() => readUntil('--until', text))).toBe(true)
  })
})
