import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { REDACTED, redactPayload, withoutValues } from './redact-payload.ts'

const order = {
  id: 'o-1',
  iban: 'DE02120300000000202051',
  customer: { name: 'Ada', email: 'ada@example.com' },
  items: [
    { sku: 'a', price: 12_345, by: { email: 'x@example.com' } },
    { sku: 'b', price: 1 },
  ],
}

describe('redactPayload', () => {
  it('hides the fields that are named, in lists as well, and shows the rest', () => {
    const { payload } = redactPayload(order, ['iban', 'customer.email', 'items.price', 'none.such'])
    expect(payload).toEqual({
      id: 'o-1',
      iban: REDACTED,
      customer: { name: 'Ada', email: REDACTED },
      items: [
        { sku: 'a', price: REDACTED, by: { email: 'x@example.com' } },
        { sku: 'b', price: REDACTED },
      ],
    })
  })

  it('hides a field with everything in it, any field by *, or all there is', () => {
    expect(redactPayload(order, ['customer']).payload).toMatchObject({ customer: REDACTED, id: 'o-1' })
    expect(redactPayload(order, ['*.email']).payload).toMatchObject({ customer: { name: 'Ada', email: REDACTED } })
    expect(redactPayload(order, 'all').payload).toBe(REDACTED)
    expect(redactPayload(undefined, 'all').payload).toBeUndefined()
  })

  it('answers what is hidden, so that no message has it either', () => {
    const hidden = redactPayload(order, ['iban', 'items.price', 'customer'])
    const message = 'no account DE02120300000000202051 of ada@example.com for 12345 at 1'
    expect(withoutValues(message, hidden)).toBe('no account [redacted] of [redacted] for [redacted] at 1')
  })

  it('shows nothing of a message where more values are hidden than can be looked for', () => {
    const accounts = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ iban: `iban-${10_000 + index}` }))
    const fits = redactPayload([...accounts(1_000), ...accounts(1_000)], ['iban'])
    expect(withoutValues('no account iban-10999 at the bank', fits)).toBe('no account [redacted] at the bank')
    const many = redactPayload(accounts(1_001), ['iban'])
    expect(many.values.length).toBe(1_000)
    expect(withoutValues('no account iban-11000 at the bank', many)).toBe(
      '[redacted: more values than can be taken out]',
    )
  })

  it('leaves the payload as it was, and never shows a hidden string, whatever the payload', () => {
    const secret = 'x-secret-x'
    const leaf = fc.oneof(fc.constant(secret), fc.string(), fc.integer(), fc.constant(null))
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.array(tie('tree')),
        fc.dictionary(fc.constantFrom('a', '__proto__', 'iban'), tie('tree')),
      ),
    }))
    fc.assert(
      fc.property(tree, (value) => {
        const before = JSON.stringify(value)
        expect(JSON.stringify(redactPayload(value, 'all').payload ?? null)).not.toContain(secret)
        const { payload, ...hidden } = redactPayload({ iban: value, rest: 'kept' }, ['iban'])
        expect(JSON.stringify(payload)).not.toContain(secret)
        expect(payload).toMatchObject({ rest: 'kept' })
        expect(withoutValues(before, hidden)).not.toContain(secret)
        expect(JSON.stringify(value)).toBe(before)
      }),
    )
  })
})
