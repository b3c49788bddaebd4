import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { LARGEST_ENTITY_BYTES, planMembers } from './page-members.ts'

const schema = z.object({ id: z.string() })
const shape = {
  parse: (payload: unknown) => schema.parse(payload),
  key: (entity: unknown) => (entity as { id: string }).id,
}

describe('a page as the plan keeps it', () => {
  it('has the key and the raw payload of every entity, and ends at the last key', () => {
    expect(planMembers(shape, [{ id: 'a', more: 1 }, { id: 'b' }])).toEqual({
      members: [
        { key: 'a', payload: '{"id":"a","more":1}' },
        { key: 'b', payload: '{"id":"b"}' },
      ],
      lastKey: 'b',
    })
  })

  it('takes the key as the schema reads it, and of a refused payload as it is', () => {
    const trimming = {
      parse: (payload: unknown) => z.object({ id: z.string().trim(), n: z.number() }).parse(payload),
      key: shape.key,
    }
    const { members } = planMembers(trimming, [
      { id: ' a ', n: 1 },
      { id: ' b ', n: 'x' },
    ])
    expect(members.map(({ key, fault }) => [key, fault])).toEqual([
      ['a', undefined],
      [' b ', undefined],
    ])
  })

  it('gives what has no key one of its text: the same each time, never one twice in a page', () => {
    const payloads = [undefined, undefined, { id: 7 }, { id: 'ok' }, { id: '' }]
    const { members, lastKey } = planMembers(shape, payloads)
    expect(lastKey).toBe('ok')
    expect(members.map(({ fault }) => fault?.reason)).toEqual(['invalid', 'invalid', 'invalid', undefined, 'invalid'])
    expect(new Set(members.map(({ key }) => key)).size).toBe(5)
    expect(planMembers(shape, payloads).members).toEqual(members)
  })

  it('plans what is too large or no JSON with what can be kept of it', () => {
    const cycle: Record<string, unknown> = { id: 'cycle', twice: [{ a: 1 }] }
    cycle['self'] = cycle
    const shared = { deep: true }
    const big = { id: 'big', text: 'ä'.repeat(LARGEST_ENTITY_BYTES / 2) }
    const { members } = planMembers(shape, [cycle, { id: 'n', n: 10n }, big, { id: 'twice', a: shared, b: shared }])
    expect(members.map(({ key, fault }) => [key, fault?.reason])).toEqual([
      ['cycle', 'invalid'],
      ['n', 'invalid'],
      ['big', 'too large'],
      ['twice', undefined],
    ])
    expect(members.slice(0, 2).map(({ payload }) => JSON.parse(payload))).toEqual([
      { id: 'cycle', twice: [{ a: 1 }], self: '(circular)' },
      { id: 'n', n: '10n' },
    ])
    expect(members[2]?.payload.length).toBeLessThan(5_000)
  })

  it('refuses a key that is too long for receipts', () => {
    const { members } = planMembers(shape, [{ id: 'x'.repeat(513) }])
    expect(members[0]).toMatchObject({ key: expect.stringMatching(/^#/), fault: { reason: 'too large' } })
  })

  it('survives payloads that fight back', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const trap = {
      toJSON: () => {
        throw new Error('trap')
      },
      id: 'trap',
    }
    const { members } = planMembers(shape, [proxy, trap, () => undefined])
    expect(members.map(({ fault }) => fault?.reason)).toEqual(['invalid', 'invalid', 'invalid'])
    for (const { payload } of members) expect(() => JSON.parse(payload) as unknown).not.toThrow()
  })
})
