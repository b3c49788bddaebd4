import { describe, expect, it } from 'vitest'
import { describeRedacted, describeThrown, keptError, LONGEST_MESSAGE, LONGEST_STACK } from './thrown-value.ts'

describe('a thrown value as text', () => {
  it.each<[string, unknown, { name: string; message: string }]>([
    ['a string', 'just text', { name: 'string', message: 'just text' }],
    ['nothing', undefined, { name: 'undefined', message: 'nothing was thrown' }],
    ['null', null, { name: 'object', message: 'null was thrown' }],
    ['a number', 7, { name: 'number', message: '7 was thrown' }],
    ['a symbol', Symbol('x'), { name: 'symbol', message: 'a symbol was thrown' }],
    ['an object', { code: 1 }, { name: 'object', message: 'an object with "code" was thrown' }],
    ['what looks like an error', { name: 'PgError', message: 'no table' }, { name: 'PgError', message: 'no table' }],
    ['a frozen error', Object.freeze(new RangeError('cold')), { name: 'RangeError', message: 'cold' }],
  ])('keeps %s', (_, thrown, expected) => {
    expect(describeThrown(thrown)).toMatchObject(expected)
  })

  it('follows causes, and stops at a circle', () => {
    const inner: Error & { cause?: unknown } = new Error('inner')
    const outer = new Error('outer', { cause: inner })
    inner.cause = outer
    const { stack = '' } = describeThrown(outer)
    expect(stack).toContain('[cause]: Error: inner')
    expect(stack).toContain('[cause]: (circular)')
  })

  it('never throws, whatever is read', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const trap = {
      get message(): string {
        throw new Error('trap')
      },
      get stack(): string {
        throw new Error('trap')
      },
    }
    expect(describeThrown(proxy).message).toBe('a value that cannot be read was thrown')
    expect(describeThrown(trap).message).toContain('was thrown')
    expect(JSON.parse(keptError(proxy, { number: 2, at: 5, worker: 'w' }))).toMatchObject({
      attempt: 2,
      at: 5,
      worker: 'w',
    })
  })

  it('tells no member of a whole chunk, however many there are', () => {
    const payloads = Array.from({ length: 1_500 }, (_, index) => ({ iban: `iban-${10_000 + index}` }))
    const thrown = new TypeError('no account iban-11499 at the bank', { cause: new Error('iban-11498') })
    const told = describeRedacted(thrown, { payloads, redact: ['iban'] })
    expect(told.name).toBe('TypeError')
    expect(JSON.stringify(told)).not.toContain('iban-')
    const few = describeRedacted(thrown, { payloads: payloads.slice(-2), redact: ['iban'] })
    expect(few.message).toBe('no account [redacted] at the bank')
    expect(JSON.stringify(few)).not.toContain('iban-')
  })

  it('is limited in size', () => {
    const error = new Error('x'.repeat(100_000))
    const { message, stack = '' } = describeThrown(error)
    expect(message.length).toBeLessThanOrEqual(LONGEST_MESSAGE + 3)
    expect(stack.length).toBeLessThanOrEqual(LONGEST_STACK + 3)
  })
})
