import { CronExpressionParser } from 'cron-parser'
import { SUNDAY_AGAIN } from './cron-fields.ts'
import type { CronText } from './cron-text.ts'
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

/** Compiles the fields; cron-parser turns each piece into its values. */
export function cronPlan(text: CronText): CronPlan {
  const values = fieldValues(text)
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

interface FieldValues {
  readonly second: Set<number>
  readonly minute: Set<number>
  readonly hour: Set<number>
  readonly day: Set<number>
  readonly month: Set<number>
  readonly weekday: Set<number>
}

/**
 * cron-parser refuses lists whose items overlap (`1-5,3`) and drops days that a lone month does not have, so each list is read piece
 * by piece, and months apart from days.
 */
function fieldValues(text: CronText): FieldValues {
  const values = { second: new Set<number>(), minute: new Set<number>(), hour: new Set<number>(), day: new Set<number>(), month: new Set<number>(), weekday: new Set<number>() }
  const { month, ...others } = text
  const rows = Math.max(1, ...Object.values(others).map((field) => field.pieces.length))
  for (let row = 0; row < rows; row += 1) {
    const piece = (field: { readonly pieces: readonly string[] }) => field.pieces[Math.min(row, field.pieces.length - 1)] ?? '*'
    const dayAndWeekday = `${piece(text.day)} * ${piece(text.weekday)}`
    const { fields } = CronExpressionParser.parse(`${piece(text.second)} ${piece(text.minute)} ${piece(text.hour)} ${dayAndWeekday}`)
    addAll(values.second, fields.second.values)
    addAll(values.minute, fields.minute.values)
    addAll(values.hour, fields.hour.values)
    if (text.day.pieces.length > 0) addAll(values.day, fields.dayOfMonth.values)
    if (text.weekday.pieces.length > 0) addAll(values.weekday, fields.dayOfWeek.values)
  }
  for (const piece of month.pieces) addAll(values.month, CronExpressionParser.parse(`0 0 0 * ${piece} *`).fields.month.values)
  if (values.weekday.delete(SUNDAY_AGAIN)) values.weekday.add(0)
  return values
}

function addAll(into: Set<number>, values: readonly (number | string)[]): void {
  for (const value of values) into.add(Number(value))
}
