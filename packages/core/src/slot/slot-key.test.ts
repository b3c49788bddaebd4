import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isCronceError } from '../errors/cronce-error.ts'
import {
  compareSlots,
  formatDeadLetterId,
  formatDoneLetterId,
  formatSlotId,
  formatSlotKey,
  parseDeadLetterId,
  parseSlotId,
  parseSlotKey,
  type Slot,
  slotIdOf,
} from './slot-key.ts'

const AT = Date.UTC(2026, 7, 25, 2)
const NAMES = [
  'invoice-run',
  'eu/daily',
  'billing:daily',
  '@scope/pkg',
  '日次',
  'failed',
  'meta',
  '2024',
  'a@b',
  '{x}',
  'a%3Ab',
  'T',
  '@',
  '-5',
  'repeat:x:1',
  'é'.normalize('NFC'),
  '😀',
]

/** Ids that share a Redis key with BullMQ's own bookkeeping and corrupt the queue. */
const BULLMQ_KEYS = [
  'active',
  'wait',
  'waiting-children',
  'paused',
  'id',
  'delayed',
  'prioritized',
  'stalled-check',
  'completed',
  'failed',
  'stalled',
  'repeat',
  'limiter',
  'meta',
  'events',
  'pc',
  'marker',
  'de',
]

const anyText = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 })
const anySlot = fc.record(
  {
    job: fc.oneof(anyText, fc.constantFrom(...NAMES, ...BULLMQ_KEYS)),
    at: fc.integer({ min: 0, max: Math.floor(Date.UTC(9999, 0) / 1000) }).map((second) => second * 1000),
    manual: fc.integer({ min: 1, max: 999_999_999 }),
  },
  { requiredKeys: ['job', 'at'] },
)

describe('a slot key', () => {
  it('is the encoded name, an @, and the instant in UTC', () => {
    expect(formatSlotKey({ job: 'invoice-run', at: AT })).toBe('invoice-run@20260825T020000Z')
    expect(formatSlotKey({ job: 'invoice-run', at: AT, manual: 1 })).toBe('invoice-run@20260825T020000Z+manual-1')
    expect(formatSlotKey({ job: '@scope/pkg', at: AT })).toBe('@scope/pkg@20260825T020000Z')
    expect(formatSlotKey({ job: 'billing:daily', at: AT })).toBe('billing%3Adaily@20260825T020000Z')
  })

  it.each([...NAMES, ...BULLMQ_KEYS])('reads back for the job %j', (job) => {
    expect(parseSlotKey(formatSlotKey({ job, at: AT }))).toEqual({ job, at: AT })
  })

  it('reads back for any job, instant and ordinal', () => {
    fc.assert(
      fc.property(anySlot, (slot) => {
        expect(parseSlotKey(formatSlotKey(slot))).toEqual(slot)
      }),
    )
  })

  it('is an id that BullMQ takes and keeps apart from its own keys, for any job', () => {
    fc.assert(
      fc.property(anySlot, (slot) => {
        const key = formatSlotKey(slot)
        expect(key).not.toContain(':')
        expect(key).not.toMatch(/^-?\d+$/)
        expect(key).not.toBe('')
        expect(BULLMQ_KEYS).not.toContain(key)
      }),
    )
  })

  it('is one for equal slots and two for different ones', () => {
    fc.assert(
      fc.property(anySlot, anySlot, (one, other) => {
        expect(formatSlotKey(one) === formatSlotKey(other)).toBe(compareSlots(one, other) === 0)
      }),
    )
  })

  it('cuts the instant to whole seconds, before 1970 too', () => {
    expect(formatSlotId(AT + 999)).toBe('20260825T020000Z')
    expect(formatSlotId(-1)).toBe('19691231T235959Z')
  })

  it.each([
    ['no instant', 'invoice-run'],
    ['no job', '@20260825T020000Z'],
    ['an empty key', ''],
    ['a day that does not exist', 'a@20260231T020000Z'],
    ['hour 24', 'a@20260825T240000Z'],
    ['a leap second', 'a@20261231T235960Z'],
    ['a colon form', 'a@2026-08-25T02:00:00Z'],
    ['ordinal 0', 'a@20260825T020000Z+manual-0'],
    ['an ordinal with a leading zero', 'a@20260825T020000Z+manual-01'],
    ['something after it', 'a@20260825T020000Z/x'],
    ['a line break after it', 'a@20260825T020000Z\n'],
    ['two separators', 'a@b@20260825T020000Z'],
  ])('is refused with %s', (_, key) => {
    let caught: unknown
    try {
      parseSlotKey(key)
    } catch (error) {
      caught = error
    }
    expect(isCronceError(caught, 'CRONCE_SLOT_KEY_INVALID')).toBe(true)
  })

  it('shows at most 200 characters of a key that it refuses', () => {
    expect(() => parseSlotKey('x'.repeat(5_000))).toThrow(new RegExp(`"x{200}"$`))
  })

  it('gives its slot id without parsing', () => {
    fc.assert(
      fc.property(anySlot, (slot) => {
        expect(slotIdOf(formatSlotKey(slot))).toBe(formatSlotId(slot.at, slot.manual))
      }),
    )
    expect(parseSlotId('20260825T020000Z+manual-12')).toEqual({ at: AT, manual: 12 })
  })
})

describe('compareSlots', () => {
  it('orders by instant, then scheduled before manual, then by name', () => {
    const slots: Slot[] = [
      { job: 'b', at: AT },
      { job: 'a', at: AT, manual: 2 },
      { job: 'a', at: AT + 1000 },
      { job: 'a', at: AT },
      { job: 'a', at: AT, manual: 1 },
    ]
    expect(slots.toSorted(compareSlots)).toEqual([
      { job: 'a', at: AT },
      { job: 'b', at: AT },
      { job: 'a', at: AT, manual: 1 },
      { job: 'a', at: AT, manual: 2 },
      { job: 'a', at: AT + 1000 },
    ])
  })
})

describe('a dead letter id', () => {
  it('reads back for any slot and entity key', () => {
    fc.assert(
      fc.property(
        anySlot,
        fc.oneof(anyText, fc.constantFrom('a/b', '@scope/pkg', 'x@20260825T020000Z', '%2F', ':', '0')),
        (slot, entity) => {
          const key = formatSlotKey(slot)
          expect(parseDeadLetterId(formatDeadLetterId(key, entity))).toEqual({ slot: key, entity })
          expect(formatDeadLetterId(key, entity)).not.toMatch(/[:{}\s]/)
        },
      ),
    )
  })

  it('keeps (job a, entity b-c) and (job a-b, entity c) apart, and every other pair', () => {
    const id = (job: string, entity?: string) => formatDeadLetterId(formatSlotKey({ job, at: AT }), entity)
    const ids = [
      id('a', 'b-c'),
      id('a-b', 'c'),
      id('a', 'b/c'),
      id('a/b', 'c'),
      id('a/b'),
      id('a', '-'),
      id('a'),
      id('a', 'b%2Dc'),
    ]
    expect(new Set(ids).size).toBe(ids.length)
    fc.assert(
      fc.property(
        fc.tuple(anySlot, anyText),
        fc.tuple(anySlot, anyText),
        ([slot, entity], [otherSlot, otherEntity]) => {
          const isSame = compareSlots(slot, otherSlot) === 0 && entity === otherEntity
          expect(
            formatDeadLetterId(formatSlotKey(slot), entity) ===
              formatDeadLetterId(formatSlotKey(otherSlot), otherEntity),
          ).toBe(isSame)
        },
      ),
    )
  })

  it('of a run is its slot key, or no entity can have it', () => {
    const key = formatSlotKey({ job: 'eu/daily', at: AT })
    expect(formatDeadLetterId(key)).toBe(key)
    expect(parseDeadLetterId(key)).toEqual({ slot: key })
    expect(parseDeadLetterId(formatDoneLetterId(key))).toEqual({ slot: key })
    expect(formatDoneLetterId(key)).not.toBe(formatDeadLetterId(key, '+done'))
  })

  it('is refused where no slot key leads it', () => {
    expect(() => parseDeadLetterId('acct-1')).toThrow('expected a slot key')
    expect(() => parseDeadLetterId('a/acct-1')).toThrow('expected a slot key')
  })
})
