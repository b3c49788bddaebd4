import { seededRandom } from '@cronce/core'
import type { ServiceAccess } from '@cronce/operations'
import { createEnqueuer } from '@cronce/queue'
import { listSlots, type Store } from '@cronce/store'
import type { Fleet } from './fleet.ts'
import { endRun, startRun } from './play-worker.ts'

/** Who asks in tests. */
export const OPERATOR = { name: 'kim' }

/** What operations work on, at the fleet's virtual time. Close `enqueuer`. */
export function accessOf({ store, redis }: Fleet): ServiceAccess {
  return { store, enqueuer: createEnqueuer({ redis, service: store.service }), random: seededRandom(1) }
}

/** Starts and ends every run of a job that is on the queue, as a worker with one free hand would. */
export async function workAll(store: Store, job: string): Promise<void> {
  for (;;) {
    const slots = await listSlots(store, job, { limit: 1_000 })
    if (!slots.some(({ state }) => state === 'enqueued')) return
    await startRun(store, job)
    await endRun(store, job)
  }
}
