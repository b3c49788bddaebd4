import type { Schedule } from './schedule.ts'
import { fnv1a } from './text-hash.ts'

/**
 * How much later than the slot a job starts: its stable place within the spread of its schedule, by a hash of its name. The slot and its key
 * stay what they are; lateness and tolerance count from slot plus offset.
 *
 * @returns whole seconds, in milliseconds, from 0 up to, not including, the spread.
 */
export function spreadOffsetMs(jobName: string, schedule: Schedule): number {
  const windowSeconds = Math.floor(schedule.spreadMs / 1000)
  return windowSeconds < 1 ? 0 : (fnv1a(jobName) % windowSeconds) * 1000
}
