import type { JobSettings } from '@cronce/core'
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

/** What an image carries never changes; a beat with hundreds of jobs must not hash them anew. */
const carriedImages = new WeakMap<readonly JobSettings[], Readonly<Record<string, string>>>()

function imagesOf(carried: readonly JobSettings[]): Readonly<Record<string, string>> {
  const known = carriedImages.get(carried)
  if (known !== undefined) return known
  const images = Object.fromEntries(carried.map((settings) => [settings.name, imageOf(settings)]))
  carriedImages.set(carried, images)
  return images
}

/** Says that this replica lives, and which definitions its image carries. */
export async function beat(context: TriggerContext, self: SelfFacts): Promise<void> {
  const { replica, release, redisClock, jobs, carried, store, timing } = context
  await heartbeatReplica(
    store,
    {
      id: replica,
      release,
      ...self,
      skewMs: redisClock.skewMs,
      jobs: jobs.size,
      images: imagesOf(carried),
      heartbeatMs: timing.heartbeatMs,
    },
    redisClock.now(),
  )
}
