import { dailyDigest } from '@cronce/jobs'
import { scopeSource } from '@cronce/jobs/sources'
import { handle } from '@cronce/worker'
import type { ReceiverClient } from '../receiver-client.ts'

/** One mail per scope. The marker before each start, not the receipt, keeps a crash from sending it twice. */
export function dailyDigestHandler(receiver: ReceiverClient) {
  return handle(dailyDigest, {
    entities: ({ after, limit }) => scopeSource.page({ after, limit }),
    async each({ scope, packages, downloads }, ctx) {
      const key = ctx.idempotencyKey('mail')
      const content = { to: scope, text: `${packages} packages, ${downloads} downloads a month` }
      await ctx.once('mail', () =>
        receiver.deliver({ key, slot: ctx.slot.key, entity: scope, content, signal: ctx.signal }),
      )
    },
  })
}
