import { nextSlot, type Schedule } from '@cronce/core'
import type { JobFacts } from '@cronce/store'

/** From this share of the time between slots on, runs take nearly as long as that. */
export const NEAR_INTERVAL = 0.8

/** Once raised, it is over below this share: a job on the verge does not raise and clear with every slot. */
export const FAR_FROM_INTERVAL = 0.7

/** Fewer runs say nothing. */
const LEAST_RUNS = 5

/** The share of the time to the next slot that nine of ten of the last runs stay within; undefined: too few runs. Pure. */
export function shareOfInterval(schedule: Schedule, durations: JobFacts['durations']): number | undefined {
  const shares = durations.flatMap(({ at, durationMs }) => {
    const next = nextSlot(schedule, at)
    return next === undefined ? [] : [durationMs / (next - at)]
  })
  if (shares.length < LEAST_RUNS) return undefined
  return shares.toSorted((a, b) => a - b)[Math.ceil(shares.length * 0.9) - 1]
}
