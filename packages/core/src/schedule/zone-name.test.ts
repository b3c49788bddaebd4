import { describe, expect, it } from 'vitest'
import { zoneSuggestion } from './zone-name.ts'

describe('zone names', () => {
  it.each([
    ...Intl.supportedValuesOf('timeZone'),
    'UTC',
    'GMT',
    'Etc/UTC',
    'Etc/GMT+5',
    'Asia/Kolkata',
    'Europe/Kyiv',
    'US/Eastern',
    'America/Argentina/Buenos_Aires',
    'America/Port-au-Prince',
  ])('takes %s', (zone) => {
    expect(zoneSuggestion(zone)).toBeUndefined()
  })

  it.each([
    ['America/New_Yrok', 'America/New_York'],
    ['Europe/Belrin', 'Europe/Berlin'],
    ['europe/berlin', 'Europe/Berlin'],
    ['EUROPE/BERLIN', 'Europe/Berlin'],
    ['Europe/berlin', 'Europe/Berlin'],
    ['asia/kolkata', 'Asia/Kolkata'],
    ['America/New York', 'America/New_York'],
    ['Berlin', 'Europe/Berlin'],
    ['New York', 'America/New_York'],
    ['utc', 'UTC'],
    ['Z', 'UTC'],
    ['Zulu', 'UTC'],
    ['PST', 'America/Los_Angeles'],
    ['CET', 'Europe/Berlin'],
    ['EST', 'America/New_York'],
    ['EST5EDT', 'America/New_York'],
    ['IST', 'Asia/Kolkata'],
    ['Japan', 'Asia/Tokyo'],
  ])('refuses %s and suggests %s', (zone, suggestion) => {
    expect(zoneSuggestion(zone)).toBe(`, did you mean ${suggestion}?`)
  })

  it.each(['+02:00', '-0500', 'UTC+2', 'GMT-5', 'utc+02:00'])('refuses the offset %s', (zone) => {
    expect(zoneSuggestion(zone)).toContain('an offset does not say when clocks change')
  })

  it.each([
    '',
    ' ',
    'Mars/Base',
    'Europe/',
    '/',
    '../etc/passwd',
    'Europe/Berlin\n',
    ' Europe/Berlin',
    'x'.repeat(10_000),
    'local',
    'system',
  ])('refuses %j', (zone) => {
    expect(zoneSuggestion(zone)).toBeTypeOf('string')
  })
})
