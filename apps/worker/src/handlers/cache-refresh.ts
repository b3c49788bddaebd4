import { cacheRefresh } from '@cronce/jobs'
import { packageSource } from '@cronce/jobs/sources'
import { handle } from '@cronce/worker'
import type { ReceiverClient } from '../receiver-client.ts'

const WARM = 20

/** Puts the most used packages where they are read. Tells of every start, so that a second run of a slot is seen. */
export function cacheRefreshHandler(receiver: ReceiverClient) {
  return handle(cacheRefresh, {
    async each(_, ctx) {
      await receiver.tellStart({ slot: ctx.slot.key, attempt: ctx.attempt, signal: ctx.signal })
      const packages = await packageSource.all()
      const warm = packages.toSorted((one, other) => other.downloads - one.downloads).slice(0, WARM)
      const content = warm.map(({ name }) => name)
      await receiver.deliver({
        key: ctx.idempotencyKey('cache'),
        slot: ctx.slot.key,
        entity: 'most-used',
        content,
        signal: ctx.signal,
      })
    },
  })
}
