import { RecentMap } from '../recent-map.ts'
import type { CronPlan } from './cron-plan.ts'
import { readCron } from './cron-reading.ts'
import type { CronSchedule } from './schedule.ts'
import { type WallMap, type WallPolicy, wallMap } from './wall-map.ts'

/** A cron schedule made ready for questions. */
export interface CompiledCron {
  readonly schedule: CronSchedule
  readonly plan: CronPlan
  readonly wall: WallMap
}

/** Real time: a local time that does not exist has no instant, one that comes twice has two. */
const REAL_TIME: WallPolicy = { missingTime: 'skip', repeatedTime: 'both' }

/** Distinct schedules remembered. */
const MOST_COMPILED = 5_000

const byObject = new WeakMap<CronSchedule, CompiledCron>()
const byContent = new RecentMap<string, CompiledCron>(MOST_COMPILED)

/** The compiled form of a schedule, remembered by object and, for rows read anew from a store, by content. */
export function compiled(schedule: CronSchedule): CompiledCron {
  const known = byObject.get(schedule)
  // Compared again, because nothing keeps a caller from changing an object of its own.
  if (known !== undefined && isSame(known.schedule, schedule)) return known
  const key = `${schedule.seconds ? 6 : 5} ${schedule.zone} ${schedule.missingTime} ${schedule.repeatedTime} ${schedule.expression}`
  let form = byContent.get(key)
  if (form === undefined) {
    form = compile(schedule)
    byContent.set(key, form)
  }
  byObject.set(schedule, form)
  return form
}

function isSame(one: CronSchedule, other: CronSchedule): boolean {
  return (
    one.expression === other.expression &&
    one.zone === other.zone &&
    one.missingTime === other.missingTime &&
    one.repeatedTime === other.repeatedTime &&
    one.seconds === other.seconds
  )
}

function compile(schedule: CronSchedule): CompiledCron {
  const { plan, faults } = readCron(schedule.expression, schedule.seconds ? 6 : 5)
  if (plan === undefined) throw faults[0]
  return { schedule: { ...schedule }, plan, wall: wallMap(schedule.zone, plan.isIntervalLike ? REAL_TIME : schedule) }
}
