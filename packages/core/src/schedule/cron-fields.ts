/** The six fields of a cron expression, in the order in which six are written. */
export const CRON_FIELDS = ['second', 'minute', 'hour', 'day', 'month', 'weekday'] as const

export type CronField = (typeof CRON_FIELDS)[number]

export interface CronFieldRange {
  readonly least: number
  readonly most: number
  /** Names that stand for numbers, lower case. */
  readonly names: Readonly<Record<string, number>>
  /** How a refusal describes what the field takes. */
  readonly takes: string
}

/** 7 is Sunday too, as in Vixie cron, so `5-7` and `1/2` reach Sunday. */
export const SUNDAY_AGAIN = 7

export const FIELD_RANGE: Readonly<Record<CronField, CronFieldRange>> = {
  second: { least: 0, most: 59, names: {}, takes: '0-59' },
  minute: { least: 0, most: 59, names: {}, takes: '0-59' },
  hour: { least: 0, most: 23, names: {}, takes: '0-23' },
  day: { least: 1, most: 31, names: {}, takes: '1-31 or L' },
  month: {
    least: 1,
    most: 12,
    names: { jan: 1, feb: 2, mar: 3, apr: 4, may: 5, jun: 6, jul: 7, aug: 8, sep: 9, oct: 10, nov: 11, dec: 12 },
    takes: '1-12 or JAN-DEC',
  },
  weekday: {
    least: 0,
    most: SUNDAY_AGAIN,
    names: { sun: 0, mon: 1, tue: 2, wed: 3, thu: 4, fri: 5, sat: 6 },
    takes: '0-7, SUN-SAT, 5L or 1#3',
  },
}

/** What each nickname stands for, in five fields. */
export const NICKNAMES: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}
