import { formatSlotKey } from '@cronce/core'
import { expect, it } from 'vitest'
import { JobLabels, OTHER_JOBS } from './job-labels.ts'

it('a slot has the label of its job, whatever is in the name', () => {
  const labels = new JobLabels()
  for (const job of ['invoice-run', 'größe', 'a b', 'a%20b', 'x@y', '100%']) {
    expect([labels.of(job), labels.ofSlot(formatSlotKey({ job, at: 0 }))]).toEqual([job, job])
  }
})

it('jobs beyond the bound share one label, and those before it keep theirs', () => {
  const labels = new JobLabels(2)
  expect(['a', 'b', 'c', 'd', 'a'].map((job) => labels.of(job))).toEqual(['a', 'b', OTHER_JOBS, OTHER_JOBS, 'a'])
  expect(labels.ofSlot(formatSlotKey({ job: 'b', at: 0 }))).toBe('b')
  expect(labels.ofSlot(formatSlotKey({ job: 'e', at: 0 }))).toBe(OTHER_JOBS)
})
