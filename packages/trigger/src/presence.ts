import { heartbeatReplica, imageOf } from '@cronce/store'
import type { TriggerContext } from './trigger-context.ts'

/** What a trigger knows of itself, for its presence. */
export interface SelfFacts {
  readonly host: string
  readonly pid: number
  readonly startedAt: number
  readonly loopLateMs: number
  readonly tzdata: string
}

/** Says that this replica lives, and which definitions its image carries. */
export async function beat(context: TriggerContext, self: SelfFacts): Promise<void> {
  const { replica, release, redisClock, jobs, carried, store, timing } = context
  const images = Object.fromEntries(carried.map((settings) => [settings.name, imageOf(settings)]))
  await heartbeatReplica(
    store,
    {
      id: replica,
      release,
      ...self,
      skewMs: redisClock.skewMs,
      jobs: jobs.size,
      images,
      heartbeatMs: timing.heartbeatMs,
    },
    redisClock.now(),
  )
}
