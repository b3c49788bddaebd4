import { describe, expect, it } from 'vitest'
import { nearestName } from './nearest-name.ts'

describe('nearestName', () => {
  it.each([
    ['missingTime', 'missingtime'],
    ['missingTime', 'misingTime'],
    ['repeatedTime', 'repeatTime'],
    ['zone', 'znoe'],
    ['zone', 'zones'],
  ])('finds %s for %s', (name, word) => {
    expect(nearestName(word, ['zone', 'missingTime', 'repeatedTime', 'seconds'])).toBe(name)
  })

  it.each(['', 'x', 'expression', 'q'.repeat(100_000)])('finds nothing for %.20s', (word) => {
    expect(nearestName(word, ['zone', 'missingTime'])).toBeUndefined()
  })
})
