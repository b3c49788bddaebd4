import { DAY_SECONDS } from './civil.ts'
import type { CronPlan } from './cron-plan.ts'

/*
 * Local times are counted in seconds since 1970-01-01T00:00:00 on the wall clock, as though no clock ever changed: plain integers, so
 * that the search for the next matching wall time knows nothing of zones.
 */

/** The first matching local time that is not before `local`; Infinity where the calendar ends first. */
export function nextLocal(plan: CronPlan, local: number): number {
  const day = Math.floor(local / DAY_SECONDS)
  if (plan.days.matches(day)) {
    const time = timeFrom(plan, local - day * DAY_SECONDS)
    if (time >= 0) return day * DAY_SECONDS + time
  }
  return plan.days.next(day + 1) * DAY_SECONDS + plan.firstTime
}

/** The last matching local time that is not after `local`; -Infinity where the calendar begins later. */
export function prevLocal(plan: CronPlan, local: number): number {
  const day = Math.floor(local / DAY_SECONDS)
  if (plan.days.matches(day)) {
    const time = timeUpTo(plan, Math.floor(local - day * DAY_SECONDS))
    if (time >= 0) return day * DAY_SECONDS + time
  }
  return plan.days.prev(day - 1) * DAY_SECONDS + plan.lastTime
}

/** How many matching local times there are from `from` up to, not including, `until`. */
export function countLocal(plan: CronPlan, from: number, until: number): number {
  if (until <= from) return 0
  const firstDay = Math.floor(from / DAY_SECONDS)
  const lastDay = Math.floor(until / DAY_SECONDS)
  const whole = plan.days.count(firstDay, lastDay) * plan.timesPerDay
  const before = plan.days.matches(firstDay) ? timesBefore(plan, from - firstDay * DAY_SECONDS) : 0
  const rest = plan.days.matches(lastDay) ? timesBefore(plan, until - lastDay * DAY_SECONDS) : 0
  return whole - before + rest
}

function timeFrom(plan: CronPlan, time: number): number {
  const hour = (time / 3600) | 0
  const minute = ((time - hour * 3600) / 60) | 0
  const second = time - hour * 3600 - minute * 60
  const { hours, minutes, seconds } = plan
  if (hours.next[hour] === hour) {
    if (minutes.next[minute] === minute) {
      const nextSecond = seconds.next[second] as number
      if (nextSecond >= 0) return hour * 3600 + minute * 60 + nextSecond
    }
    const nextMinute = minutes.next[minute + 1] as number
    if (nextMinute >= 0) return hour * 3600 + nextMinute * 60 + seconds.least
  }
  const nextHour = hours.next[hour + 1] as number
  return nextHour < 0 ? -1 : nextHour * 3600 + minutes.least * 60 + seconds.least
}

function timeUpTo(plan: CronPlan, time: number): number {
  const hour = (time / 3600) | 0
  const minute = ((time - hour * 3600) / 60) | 0
  const second = time - hour * 3600 - minute * 60
  const { hours, minutes, seconds } = plan
  if (hours.prev[hour] === hour) {
    if (minutes.prev[minute] === minute) {
      const prevSecond = seconds.prev[second] as number
      if (prevSecond >= 0) return hour * 3600 + minute * 60 + prevSecond
    }
    const prevMinute = minute === 0 ? -1 : (minutes.prev[minute - 1] as number)
    if (prevMinute >= 0) return hour * 3600 + prevMinute * 60 + seconds.most
  }
  const prevHour = hour === 0 ? -1 : (hours.prev[hour - 1] as number)
  return prevHour < 0 ? -1 : prevHour * 3600 + minutes.most * 60 + seconds.most
}

function timesBefore(plan: CronPlan, time: number): number {
  const hour = (time / 3600) | 0
  const minute = ((time - hour * 3600) / 60) | 0
  const second = time - hour * 3600 - minute * 60
  const { hours, minutes, seconds } = plan
  let count = (hours.below[hour] as number) * minutes.count * seconds.count
  if (hours.next[hour] === hour) {
    count += (minutes.below[minute] as number) * seconds.count
    if (minutes.next[minute] === minute) count += seconds.below[second] as number
  }
  return count
}
