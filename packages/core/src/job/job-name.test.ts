import { describe, expect, it } from 'vitest'
import { foreignQueueFault, jobNameFault, queueNameFault } from './job-name.ts'

describe('a job name', () => {
  it.each([
    'eu/daily',
    'billing:daily',
    '@scope/pkg',
    '日次',
    'failed',
    'meta',
    '2024',
    'a b',
    '{x}',
    '100%',
    '😀',
    'x'.repeat(128),
    '😀'.repeat(128),
    '-',
    '__proto__',
  ])('may be %j', (name) => {
    expect(jobNameFault(name)).toBeUndefined()
  })

  it.each<[unknown, string]>([
    ['', 'non-empty'],
    [' \t ', 'non-empty'],
    [undefined, 'non-empty'],
    [2024, 'non-empty'],
    ['x'.repeat(129), 'at most 128 characters, got 129'],
    ['😀'.repeat(129), 'at most 128 characters, got'],
    [' a', 'white space around'],
    ['a\u00a0', 'white space around'],
    ['a\nb', 'control characters'],
    ['a\u0000', 'control characters'],
    ['a\u001b[31mb', 'control characters'],
    ['a\u2028b', 'control characters'],
    ['a\ud800', 'lone surrogate'],
    ['\udc00a', 'lone surrogate'],
    ['e\u0301', 'NFC'],
  ])('may not be %j', (name, reason) => {
    expect(jobNameFault(name)).toContain(reason)
  })
})

describe('a queue name', () => {
  it.each(['default', 'billing', 'eu/billing', '日次', 'a.b-c_d', '2024'])('may be %j', (name) => {
    expect(queueNameFault(name)).toBeUndefined()
  })

  it.each(['', 'a:b', '{a}', 'a,b', 'a b', 'a\tb', 'a\u0000', ' a', 7])('may not be %j', (name) => {
    expect(queueNameFault(name)).toMatch(/^expected a .*queue name/)
  })

  it('of a plain BullMQ worker may be a hash tag, never with a colon', () => {
    expect(foreignQueueFault('{orders}')).toBeUndefined()
    expect(foreignQueueFault('a:b')).toContain('without ":"')
    expect(foreignQueueFault('')).toContain('non-empty')
  })
})
