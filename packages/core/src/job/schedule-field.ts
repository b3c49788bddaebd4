import { z } from 'zod'
import { describeValue } from '../errors/describe-value.ts'
import type { Schedule } from '../schedule/schedule.ts'
import { scheduleFaults } from '../schedule/schedule.ts'
import { asRecord } from './fields.ts'

/** What `cron()` and `every()` return, or its stored copy. */
export function scheduleField(): z.ZodType<Schedule> {
  return z.unknown().transform((value, context): Schedule => {
    const record = asRecord(value)
    if (record === undefined) {
      context.addIssue({ code: 'custom', message: notASchedule(value) })
      return z.NEVER
    }
    const faults = scheduleFaults(record)
    for (const { path, message } of faults)
      context.addIssue({ code: 'custom', path: path === '' ? [] : [path], message })
    return faults.length === 0 ? inOrder(record as unknown as Schedule) : z.NEVER
  })
}

function notASchedule(value: unknown): string {
  const got = `expected cron(...) or every(...), got ${describeValue(value)}`
  if (typeof value !== 'string') return got
  return value.trim().split(/\s+/).length > 1 || value.startsWith('@')
    ? `${got}: write cron(${describeValue(value)})`
    : `${got}: write every(${describeValue(value)})`
}

/** One order of keys, so that equal schedules have equal JSON, however a row was written. */
function inOrder(schedule: Schedule): Schedule {
  if (schedule.kind === 'every') {
    const { kind, periodMs, offsetMs, spreadMs } = schedule
    return Object.freeze({ kind, periodMs, offsetMs, spreadMs })
  }
  const { kind, expression, zone, missingTime, repeatedTime, seconds, spreadMs } = schedule
  return Object.freeze({ kind, expression, zone, missingTime, repeatedTime, seconds, spreadMs })
}
