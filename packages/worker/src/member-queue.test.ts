import type { ChunkMember } from '@cronce/store'
import { describe, expect, it } from 'vitest'
import { MemberQueue } from './member-queue.ts'

function member(index: number, nextAttemptAt = 0): ChunkMember {
  return {
    index,
    key: `e${index}`,
    payload: {},
    state: 'fresh',
    attempts: 0,
    attemptsBefore: 0,
    nextAttemptAt,
    crashes: 0,
    fault: undefined,
  }
}

describe('the queue of a chunk', () => {
  it('gives entities in plan order, and those that wait when their time has come', () => {
    const queue = new MemberQueue([member(0, 50), member(1), member(2)])
    expect(queue.earliestAt).toBe(0)
    expect(queue.take(10, 10).map(({ index }) => index)).toEqual([1, 2])
    expect(queue.size).toBe(1)
    expect(queue.earliestAt).toBe(50)
    expect(queue.next(49)).toBeUndefined()
    expect(queue.next(50)?.index).toBe(0)
    expect(queue.size).toBe(0)
    expect(queue.earliestAt).toBe(Number.POSITIVE_INFINITY)
  })

  it('takes back what is to be tried again', () => {
    const queue = new MemberQueue([member(0)])
    expect(queue.take(1, 0)).toHaveLength(1)
    queue.putBack(member(0, 99))
    expect([queue.size, queue.earliestAt, queue.next(98)]).toEqual([1, 99, undefined])
    expect(queue.next(99)?.nextAttemptAt).toBe(99)
  })
})
