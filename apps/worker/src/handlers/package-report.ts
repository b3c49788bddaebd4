import { type NpmPackage, packageReport } from '@cronce/jobs'
import type { PackageSource } from '@cronce/jobs/sources'
import { handle } from '@cronce/worker'
import type { ReceiverClient } from '../receiver-client.ts'

const SECONDS_A_MONTH = 30 * 24 * 3600

/** One line of the report per package, delivered once under the line's idempotency key. */
export function packageReportHandler(receiver: ReceiverClient, packages: PackageSource) {
  return handle(packageReport, {
    entities: ({ after, limit }) => packages.page({ after, limit }),
    async each(npmPackage, ctx) {
      const key = ctx.idempotencyKey('line')
      const content = reportLine(npmPackage)
      await ctx.once('line', () =>
        receiver.deliver({ key, slot: ctx.slot.key, entity: npmPackage.name, content, signal: ctx.signal }),
      )
    },
    done({ slot, state, counts }, { log }) {
      log.info({ slot: slot.key, state, counts }, `the report has ${counts.done} lines`)
    },
  })
}

/** What the report says of one package. */
export function reportLine({ name, version, downloads }: NpmPackage): string {
  return `${name} ${version}: ${downloads} downloads a month, ${(downloads / SECONDS_A_MONTH).toFixed(1)} a second`
}
