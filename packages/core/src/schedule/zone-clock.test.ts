import { describe, expect, it } from 'vitest'
import { tzdataVersion, zoneClock } from './zone-clock.ts'
import { zoneTransitionsHash } from './zone-hash.ts'

function seconds(iso: string): number {
  return Date.parse(iso) / 1000
}

function changesOf(zone: string, from: string, until: string): readonly string[] {
  return zoneClock(zone)
    .changes(seconds(from), seconds(until))
    .map(({ at, before, after }) => `${new Date(at * 1000).toISOString()} ${before} ${after}`)
}

describe('zone clocks', () => {
  it.each([
    [
      'Europe/Berlin',
      '2026-01-01T00:00:00Z',
      ['2026-03-29T01:00:00.000Z 3600 7200', '2026-10-25T01:00:00.000Z 7200 3600'],
    ],
    [
      'Australia/Lord_Howe',
      '2026-01-01T00:00:00Z',
      ['2026-04-04T15:00:00.000Z 39600 37800', '2026-10-03T15:30:00.000Z 37800 39600'],
    ],
    [
      'Antarctica/Troll',
      '2026-01-01T00:00:00Z',
      ['2026-03-29T01:00:00.000Z 0 7200', '2026-10-25T01:00:00.000Z 7200 0'],
    ],
    ['Asia/Kathmandu', '2026-01-01T00:00:00Z', []],
    ['UTC', '2026-01-01T00:00:00Z', []],
    ['Etc/GMT-14', '2026-01-01T00:00:00Z', []],
  ])('%s from %s', (zone, from, expected) => {
    expect(changesOf(zone, from, '2027-01-01T00:00:00Z')).toEqual(expected)
  })

  it('finds both of a pair of changes within a week', () => {
    expect(changesOf('America/Noronha', '2000-10-01T00:00:00Z', '2000-11-01T00:00:00Z')).toEqual([
      '2000-10-08T02:00:00.000Z -7200 -3600',
      '2000-10-15T01:00:00.000Z -3600 -7200',
    ])
  })

  it('knows offsets of before standard time to the second', () => {
    expect(zoneClock('America/New_York').offsetAt(seconds('1883-11-18T16:59:59Z'))).toBe(-(4 * 3600 + 56 * 60 + 2))
    expect(changesOf('America/New_York', '1883-01-01T00:00:00Z', '1884-01-01T00:00:00Z')).toEqual([
      '1883-11-18T17:00:00.000Z -17762 -18000',
    ])
  })

  it('knows a zone that crossed the date line', () => {
    expect(changesOf('Pacific/Apia', '2011-12-01T00:00:00Z', '2012-01-01T00:00:00Z')).toEqual([
      '2011-12-30T10:00:00.000Z -36000 50400',
    ])
  })

  it('takes the change at `from` and leaves the one at `until`', () => {
    const at = seconds('2026-03-29T01:00:00Z')
    expect(zoneClock('Europe/Berlin').changes(at, at + 1)).toHaveLength(1)
    expect(zoneClock('Europe/Berlin').changes(at - 1, at)).toHaveLength(0)
    expect(zoneClock('Europe/Berlin').offsetAt(at)).toBe(7200)
    expect(zoneClock('Europe/Berlin').offsetAt(at - 1)).toBe(3600)
  })

  it('refuses a zone that this process does not know', () => {
    expect(() => zoneClock('Mars/Base')).toThrowError(expect.objectContaining({ code: 'CRONCE_SCHEDULE_ZONE' }))
  })

  it('names the tz data', () => {
    expect(tzdataVersion()).toMatch(/^20\d\d[a-z]$/)
  })
})

describe('the hash of a zone', () => {
  const from = Date.parse('2026-01-01T00:00:00Z')
  const until = Date.parse('2028-01-01T00:00:00Z')

  it('is equal for zones whose clocks do the same, and for the same zone by another name', () => {
    expect(zoneTransitionsHash('Europe/Berlin', from, until)).toBe(zoneTransitionsHash('Europe/Paris', from, until))
    expect(zoneTransitionsHash('Asia/Kolkata', from, until)).toBe(zoneTransitionsHash('Asia/Calcutta', from, until))
    expect(zoneTransitionsHash('Europe/Berlin', from, until)).toMatch(/^[0-9a-f]{16}$/)
  })

  it('differs where a change or an offset does', () => {
    const zones = ['Europe/Berlin', 'Europe/London', 'America/New_York', 'UTC', 'Asia/Kolkata', 'Asia/Beirut']
    expect(new Set(zones.map((zone) => zoneTransitionsHash(zone, from, until))).size).toBe(zones.length)
    expect(zoneTransitionsHash('Europe/Berlin', from, until)).not.toBe(
      zoneTransitionsHash('Europe/Berlin', from, until - 90 * 86_400_000),
    )
  })

  it('refuses what is no instant', () => {
    expect(() => zoneTransitionsHash('UTC', Number.NaN, 0)).toThrowError(
      expect.objectContaining({ code: 'CRONCE_INSTANT_INVALID' }),
    )
    expect(() => zoneTransitionsHash('UTC', 0, Number.POSITIVE_INFINITY)).toThrowError()
  })
})
