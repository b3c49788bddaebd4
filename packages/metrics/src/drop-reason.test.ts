import { expect, it } from 'vitest'
import { dropReason } from './drop-reason.ts'

it.each([
  ['expired: not started by its use-by', 'expired'],
  ['overlap: 20260825T020000Z has not ended', 'overlap'],
  ['cancelled: 20260825T020000Z is due', 'cancelled'],
  ['paused by ada: expired licence', 'paused'],
  ['the job was removed by ada', 'removed'],
  ['no trigger ran in time; later than the catch-up window', 'too late'],
  ['later than the catch-up window: the runs before it did not end in time', 'too late'],
  ['catch-up: the newest of an outage only', 'catch-up'],
  ['store lost: it may have run', 'store lost'],
  ['a reason of a newer release', 'other'],
])('"%s" is counted as %s', (reason, word) => {
  expect(dropReason(reason)).toBe(word)
})
