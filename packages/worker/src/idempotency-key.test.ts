import type { SlotKey } from '@cronce/core'
import { describe, expect, it } from 'vitest'
import { formatIdempotencyKey } from './idempotency-key.ts'

const slot = 'invoice-run@20260825T020000Z' as SlotKey

describe('an idempotency key', () => {
  it('names slot, entity and effect', () => {
    expect(formatIdempotencyKey(slot, 'acct-1', 'invoice')).toBe('invoice-run@20260825T020000Z/acct-1/invoice')
  })

  it('is printable ASCII of at most 255 characters, whatever it is made of', () => {
    const keys = [
      formatIdempotencyKey('日次@20260825T020000Z+manual-2' as SlotKey, 'a:b/c d\n', 'größe'),
      formatIdempotencyKey(slot, '日'.repeat(170), 'mail'),
      formatIdempotencyKey(slot, 'x'.repeat(512), 'y'.repeat(200)),
    ]
    for (const key of keys) {
      expect(key).toMatch(/^[!-~]+$/)
      expect(key.length).toBeLessThanOrEqual(255)
    }
  })

  it('is of one slot, entity and effect only', () => {
    const triples: [SlotKey, string, string][] = [
      [slot, 'a/b', 'c'],
      [slot, 'a', 'b/c'],
      [slot, 'a%2Fb', 'c'],
      [slot, 'a', 'b'],
      [`${slot}+manual-1` as SlotKey, 'a', 'b'],
      [slot, `${'x'.repeat(300)}1`, 'c'],
      [slot, `${'x'.repeat(300)}2`, 'c'],
    ]
    expect(new Set(triples.map((triple) => formatIdempotencyKey(...triple))).size).toBe(triples.length)
  })

  it.each(['', 'a\nb', 'x'.repeat(201), '\ud800', 7 as unknown as string])('refuses the effect %j', (effect) => {
    expect(() => formatIdempotencyKey(slot, 'a', effect)).toThrow(
      expect.objectContaining({ code: 'CRONCE_EFFECT_INVALID' }),
    )
  })
})
