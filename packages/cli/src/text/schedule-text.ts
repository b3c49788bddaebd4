import { formatDuration, type Schedule } from '@cronce/core'

/** `0 2 * * *  Europe/Berlin`, `every 15m`: a schedule as its author wrote it. */
export function describeSchedule(schedule: Schedule): string {
  return `${expressionText(schedule)}  ${zoneText(schedule)}`
}

export function expressionText(schedule: Schedule): string {
  if (schedule.kind === 'cron') return schedule.expression
  const offset = schedule.offsetMs === 0 ? '' : `+${formatDuration(schedule.offsetMs)}`
  return `every ${formatDuration(schedule.periodMs)}${offset}`
}

export function zoneText(schedule: Schedule): string {
  return schedule.kind === 'cron' ? schedule.zone : 'UTC'
}
