import { expect, it } from 'vitest'
import { durationText } from './duration-text.ts'

it.each([
  [-5, '0 ms'],
  [0, '0 ms'],
  [6.4, '6 ms'],
  [999, '999 ms'],
  [999.7, '1 s'],
  [41_900, '41 s'],
  [724_000, '12 m 4 s'],
  [720_000, '12 m'],
  [7_500_000, '2 h 5 m'],
  [86_400_000 + 5_000, '1 d'],
  [Number.MAX_SAFE_INTEGER, '104249991 d 8 h'],
])('writes %d ms as %s', (durationMs, text) => {
  expect(durationText(durationMs)).toBe(text)
})
