import type { ErrorEntry } from './catalogue.ts'

/** Schedules that are refused when they are defined. */
export const SCHEDULE_ERRORS = {
  CRONCE_SCHEDULE_FIELDS: {
    message: 'expected {expected} fields ({names}), got {count}: "{expression}"',
    fix: 'Write five fields, or ask for six (seconds first) with `seconds: true`.',
  },
  CRONCE_SCHEDULE_TOKEN: {
    message: 'expected {expected} in the {field} field, got "{token}"{reason}',
    fix: 'docs/schedules.md lists what each field takes; W, LW, H and ? are not among it.',
  },
  CRONCE_SCHEDULE_NICKNAME: {
    message: 'expected one of {known}, got "{token}"{reason}',
    fix: 'Write the five fields out, use a nickname of the list, or every("15m") for a plain interval.',
  },
  CRONCE_SCHEDULE_NEVER: {
    message: 'expected an expression that occurs, got "{expression}": no year of the calendar has such a day',
    fix: 'Correct the day or the month; L in the day field is the last day of a month, whatever its length.',
  },
  CRONCE_SCHEDULE_ZONE: {
    message: 'expected an IANA time zone such as Europe/Berlin or UTC, got {got}{suggestion}',
    fix: 'Use a name of the tz database; abbreviations and offsets do not say when clocks change.',
  },
  CRONCE_SCHEDULE_OPTION: {
    message: 'expected only the options {known}, got "{option}"{suggestion}',
    fix: 'Remove the option or correct its name.',
  },
  CRONCE_SCHEDULE_VALUE: {
    message: 'expected {path} to be {expected}, got {got}',
    fix: 'Correct the value; docs/schedules.md lists the options with their defaults.',
  },
  CRONCE_SCHEDULE_INVALID: {
    message: 'the schedule is refused, {count} faults: {summary}',
    fix: 'Correct every fault listed in `faults`.',
  },
  CRONCE_INSTANT_INVALID: {
    message: 'expected an instant in epoch milliseconds, got {got}',
    fix: 'Pass a number, for example Date.parse("2026-03-08T07:00:00Z").',
  },
} as const satisfies Record<string, ErrorEntry>
