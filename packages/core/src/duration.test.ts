import { describe, expect, it } from 'vitest'
import { durationFault, formatDuration, parseDuration } from './duration.ts'

describe('parseDuration', () => {
  it.each([
    ['250ms', 250],
    ['90s', 90_000],
    ['15m', 900_000],
    ['1.5h', 5_400_000],
    ['1.1h', 3_960_000],
    ['0.25s', 250],
    ['2d', 172_800_000],
    ['1w', 604_800_000],
    ['15 m', 900_000],
    [0, 0],
    [1500, 1500],
  ])('reads %s', (input, expected) => {
    expect(parseDuration(input)).toBe(expected)
  })

  it.each([
    '',
    ' ',
    '15',
    '-5m',
    '+5m',
    '5',
    '5 minutes',
    '5M',
    '1e3s',
    'm',
    '1.ms',
    '.5s',
    '0.5ms',
    '1.0001ms',
    'Infinity',
    '1_000s',
    '٣s',
    '999999999999999w',
    ' 5m',
    '5m ',
    '1h30m',
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 53,
    null,
    undefined,
    true,
    {},
    [],
    5n,
  ])('refuses %s', (input) => {
    expect(() => parseDuration(input)).toThrowError(expect.objectContaining({ code: 'CRONCE_DURATION_INVALID' }))
    expect(durationFault(input)).toMatch(/^expected a duration such as "15m"/)
  })

  it('says what it got', () => {
    expect(durationFault('15')).toContain('got "15"')
    expect(durationFault('15m')).toBeUndefined()
  })
})

describe('formatDuration', () => {
  it.each([
    [0, '0ms'],
    [1, '1ms'],
    [1500, '1500ms'],
    [90_000, '90s'],
    [900_000, '15m'],
    [86_400_000, '1d'],
    [604_800_000, '1w'],
  ])('writes %d so that it reads back', (durationMs, text) => {
    expect(formatDuration(durationMs)).toBe(text)
    expect(parseDuration(text)).toBe(durationMs)
  })
})
