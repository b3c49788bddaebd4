import { describe, expect, it } from 'vitest'
import { entityKeyFault } from './entity-key.ts'

describe('an entity key', () => {
  it.each(['acct-1', '@babel/core', 'a:b', ' ', 'e\u0301', '0', '-', 'x'.repeat(512), '日'.repeat(170)])(
    'may be %j',
    (key) => {
      expect(entityKeyFault(key)).toBeUndefined()
    },
  )

  it.each<[unknown, string]>([
    ['', 'non-empty entity key, got ""'],
    [undefined, 'got nothing'],
    [7, 'got 7'],
    ['x'.repeat(513), 'at most 512 bytes, got 513'],
    ['日'.repeat(171), 'at most 512 bytes, got 513'],
    ['a\ud800', 'lone surrogate'],
  ])('may not be %j', (key, reason) => {
    expect(entityKeyFault(key)).toContain(reason)
  })
})
