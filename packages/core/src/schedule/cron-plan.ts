import type { CronText } from './cron-text.ts'
import { cronValues } from './cron-values.ts'
import { DayCalendar } from './day-calendar.ts'
import { type TimeTable, timeTable } from './time-table.ts'

/** A compiled cron expression: which local times it names, whatever the zone. */
export interface CronPlan {
  readonly seconds: TimeTable
  readonly minutes: TimeTable
  readonly hours: TimeTable
  readonly days: DayCalendar
  /** First and last time of a matching day, in seconds of the day. */
  readonly firstTime: number
  readonly lastTime: number
  readonly timesPerDay: number
  /** Follows real time: the minute or the hour field starts with `*`. */
  readonly isIntervalLike: boolean
  /** Neither day field starts with `*`: either may match. */
  readonly isEitherDay: boolean
}

/** Compiles the fields of an expression. */
export function cronPlan(text: CronText): CronPlan {
  const values = cronValues(text)
  const seconds = timeTable(60, values.second)
  const minutes = timeTable(60, values.minute)
  const hours = timeTable(24, values.hour)
  const isEitherDay = !text.day.isStar && !text.weekday.isStar
  return {
    seconds,
    minutes,
    hours,
    days: new DayCalendar({
      months: values.month,
      days: values.day,
      isLastDay: text.day.isLastDay,
      weekdays: values.weekday,
      nthWeekdays: text.weekday.nthWeekdays,
      isEither: isEitherDay,
    }),
    firstTime: hours.least * 3600 + minutes.least * 60 + seconds.least,
    lastTime: hours.most * 3600 + minutes.most * 60 + seconds.most,
    timesPerDay: hours.count * minutes.count * seconds.count,
    isIntervalLike: text.minute.isStar || text.hour.isStar,
    isEitherDay,
  }
}
