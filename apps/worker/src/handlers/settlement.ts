import { settlement } from '@cronce/jobs'
import { handle } from '@cronce/worker'
import type { ReceiverClient } from '../receiver-client.ts'

/** Asks the bank to settle. Runs where a worker serves the queue `finance`: `--queues finance:1`. */
export function settlementHandler(receiver: ReceiverClient) {
  return handle(settlement, {
    async each(_, ctx) {
      const key = ctx.idempotencyKey('settle')
      await ctx.once('settle', () =>
        receiver.deliver({ key, slot: ctx.slot.key, entity: 'open-payments', content: null, signal: ctx.signal }),
      )
    },
  })
}
