import { seededRandom } from '@cronce/core'
import { describe, expect, it } from 'vitest'
import { createDueQueue } from './due-queue.ts'

describe('the due queue', () => {
  it('takes what is due in order, whatever was set anew or deleted before', () => {
    const random = seededRandom(7)
    for (let round = 0; round < 200; round++) {
      const queue = createDueQueue()
      const expected = new Map<string, number>()
      for (let step = 0; step < 100; step++) {
        const name = `job-${Math.floor(random() * 30)}`
        if (random() < 0.15) {
          queue.delete(name)
          expected.delete(name)
        } else {
          const at = Math.floor(random() * 50)
          queue.set(name, at)
          expected.set(name, at)
        }
      }
      const due = [...expected].filter(([, at]) => at <= 25)
      const taken = queue.takeDue(25)
      expect(new Set(taken)).toEqual(new Set(due.map(([name]) => name)))
      expect(taken.map((name) => expected.get(name))).toEqual(due.map(([, at]) => at).toSorted((a, b) => a - b))
      const left = [...expected.values()].filter((at) => at > 25)
      expect(queue.earliest()).toBe(Math.min(Number.POSITIVE_INFINITY, ...left))
    }
  })

  it('has nothing due where everything is never', () => {
    const queue = createDueQueue()
    queue.set('a', 5)
    queue.set('a', Number.POSITIVE_INFINITY)
    expect(queue.takeDue(1_000)).toEqual([])
    expect(queue.earliest()).toBe(Number.POSITIVE_INFINITY)
  })
})
