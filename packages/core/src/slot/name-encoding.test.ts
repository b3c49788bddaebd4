import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jobNameFault } from '../job/job-name.ts'
import { decodeName, encodeEntityKey, encodeName } from './name-encoding.ts'

const HOSTILE = [
  ':',
  '{',
  '}',
  '%',
  '+',
  '@',
  '/',
  ' ',
  '\u00a0',
  '\u200b',
  '\u202e',
  '\u2028',
  '\t',
  '\n',
  '\0',
  '日',
  'é',
  '😀',
  'a',
  '0',
  '-',
  '.',
  '#',
  '?',
  '%3A',
  '\\',
  '"',
]
const hostileText = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1 }),
  fc.array(fc.constantFrom(...HOSTILE), { minLength: 1, maxLength: 12 }).map((parts) => parts.join('')),
)

describe('encodeName', () => {
  it.each([
    ['invoice-run', 'invoice-run'],
    ['eu/daily', 'eu/daily'],
    ['billing:daily', 'billing%3Adaily'],
    ['@scope/pkg', '@scope/pkg'],
    ['a@b', 'a%40b'],
    ['@@', '@%40'],
    ['日次', '日次'],
    ['{orders}', '%7Borders%7D'],
    ['100%', '100%25'],
    ['a b', 'a%20b'],
    ['a\u200bb', 'a%E2%80%8Bb'],
  ])('writes %j as %j', (name, encoded) => {
    expect(encodeName(name)).toBe(encoded)
    expect(decodeName(encoded)).toBe(name)
  })

  it('is undone by decodeName, for any text', () => {
    fc.assert(
      fc.property(hostileText, (name) => {
        expect(decodeName(encodeName(name))).toBe(name)
        expect(decodeName(encodeEntityKey(name))).toBe(name)
      }),
    )
  })

  it('leaves nothing that breaks a queue id, a hash tag or a log line', () => {
    fc.assert(
      fc.property(hostileText, (name) => {
        expect(encodeName(name)).not.toMatch(/[:{}+\s\p{Cc}\p{Cf}]/u)
        expect(encodeName(name).slice(1)).not.toContain('@')
        expect(encodeEntityKey(name)).not.toMatch(/[:{}+\s\p{Cc}\p{Cf}]/u)
      }),
    )
  })

  it('gives two names two forms', () => {
    fc.assert(
      fc.property(hostileText, hostileText, (one, other) => {
        if (one !== other) expect(encodeName(one)).not.toBe(encodeName(other))
      }),
    )
  })

  it('takes every name that a job may have', () => {
    fc.assert(
      fc.property(
        hostileText.filter((name) => jobNameFault(name) === undefined),
        (name) => {
          expect(decodeName(encodeName(name))).toBe(name)
        },
      ),
    )
  })
})

describe('decodeName', () => {
  it.each(['%', '%zz', 'a%E2%28', '%C0%80'])('leaves the malformed escape %j as it is', (encoded) => {
    expect(decodeName(encoded)).toBe(encoded)
  })
})
