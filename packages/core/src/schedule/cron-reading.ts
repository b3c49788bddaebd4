import { CronceError } from '../errors/cronce-error.ts'
import { RecentMap } from '../recent-map.ts'
import { type CronPlan, cronPlan } from './cron-plan.ts'
import { readCronText } from './cron-text.ts'

/** A cron expression read: its plan, or why it is refused. */
export interface CronReading {
  /** The expression with its white space reduced. */
  readonly expression: string
  readonly plan: CronPlan | undefined
  readonly faults: readonly CronceError[]
}

/** Distinct expressions remembered. */
const MOST_READINGS = 5_000

const readings = new RecentMap<string, CronReading>(MOST_READINGS)

/** Reads and compiles an expression once per process; refusals are not remembered. */
export function readCron(input: string, fieldCount: 5 | 6): CronReading {
  const key = `${fieldCount} ${input}`
  const known = readings.get(key)
  if (known !== undefined) return known
  const { expression, text, faults } = readCronText(input, fieldCount)
  if (text === undefined) return { expression, plan: undefined, faults }
  const plan = cronPlan(text)
  if (!plan.days.occurs)
    return { expression, plan: undefined, faults: [new CronceError('CRONCE_SCHEDULE_NEVER', { expression })] }
  const reading = { expression, plan, faults }
  readings.set(key, reading)
  return reading
}
