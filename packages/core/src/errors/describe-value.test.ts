import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { describeValue } from './describe-value.ts'

const revoked = Proxy.revocable({}, {})
revoked.revoke()

it.each<[unknown, string]>([
  [undefined, 'nothing'],
  [null, 'null'],
  [Number.NaN, 'NaN'],
  [-0.5, '-0.5'],
  [true, 'true'],
  ['soon', '"soon"'],
  ['', '""'],
  ['a\n\u001b[31m', '"a\\n\\u001b[31m"'],
  ['a\u202eb', '"a\\u{202e}b"'],
  ['\ud800', '"\\ud800"'],
  ['x'.repeat(1_000), `"${'x'.repeat(60)}..."`],
  [12n, '12n'],
  [Symbol('s'), 'a symbol'],
  [() => 1, 'a function'],
  [[], 'an empty array'],
  [[1, 2], 'an array of 2'],
  [{}, 'an empty object'],
  [{ a: 1, b: 2 }, 'an object with "a", "b"'],
  [Object.create(null), 'an empty object'],
  [new Date(0), 'a value of class Date'],
])('describes %s as %s', (value, description) => {
  expect(describeValue(value)).toBe(description)
})

it('describes what cannot be read', () => {
  expect(describeValue(revoked.proxy)).toBe('a value that cannot be read')
})

it('is one short line for any value', () => {
  fc.assert(
    fc.property(
      fc.anything({
        withProxy: true,
        withBigInt: true,
        withDate: true,
        withMap: true,
        withNullPrototype: true,
      } as object),
      (value) => {
        const description = describeValue(value)
        expect(description.length).toBeLessThan(500)
        expect(description).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u)
      },
    ),
  )
})
