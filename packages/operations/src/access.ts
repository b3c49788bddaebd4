import { type Random, systemRandom } from '@cronce/core'
import { createEnqueuer, type Enqueuer } from '@cronce/queue'
import { createStore, type RedisClient, type Store } from '@cronce/store'

/** What operations work on: one service, its store and its queues. */
export interface ServiceAccess {
  readonly store: Store
  readonly enqueuer: Enqueuer
  /** Makes claim tokens. */
  readonly random: Random
  /** Told of what fails with nobody to answer: what was asked for was done, or goes on by itself. Default: nobody. */
  readonly onFault?: ((error: unknown, what: string) => void) | undefined
}

/** Opens a service on a connection of the caller, who closes it after {@link closeAccess}. Sends nothing. */
export function openAccess(options: {
  redis: RedisClient
  service: string
  random?: Random
  onFault?: ServiceAccess['onFault']
}): ServiceAccess {
  const { redis, service, random = systemRandom, onFault } = options
  return { store: createStore({ redis, service }), enqueuer: createEnqueuer({ redis, service }), random, onFault }
}

export async function closeAccess({ enqueuer }: ServiceAccess): Promise<void> {
  await enqueuer.close()
}
