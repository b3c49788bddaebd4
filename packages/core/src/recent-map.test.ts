import { describe, expect, it } from 'vitest'
import { RecentMap } from './recent-map.ts'

describe('RecentMap', () => {
  it('remembers the last keys used and forgets the others', () => {
    const map = new RecentMap<number, string>(10)
    for (let key = 0; key < 100; key += 1) {
      map.set(key, `value ${key}`)
      expect(map.get(0), 'a key in use stays').toBe('value 0')
    }
    for (let key = 91; key < 100; key += 1) expect(map.get(key)).toBe(`value ${key}`)
    expect(map.get(50)).toBeUndefined()
  })
})
