import type { Clock } from '@cronce/core'
import type { ServiceAccess } from '@cronce/operations'
import type { FastifyInstance } from 'fastify'
import type { Access } from './access.ts'
import { addAuditRoutes } from './audit-routes.ts'
import { addBackfillRoutes } from './backfill-routes.ts'
import { ChangeFeed } from './change-feed.ts'
import { addJobRoutes } from './job-routes.ts'
import { addLiveRoutes } from './live-routes.ts'
import { addSlotRoutes } from './slot-routes.ts'

export interface ConsoleRoutesOptions {
  readonly target: ServiceAccess
  readonly access: Access
  readonly clock: Clock
}

/** A job and what is done to it slot by slot, the audit, and what tells a page that something changed. */
export function addConsoleRoutes(app: FastifyInstance, { target, access, clock }: ConsoleRoutesOptions): void {
  addJobRoutes(app, target)
  addAuditRoutes(app, target)
  addSlotRoutes(app, target)
  addBackfillRoutes(app, target, clock)
  addLiveRoutes(app, { feed: new ChangeFeed(target.store, clock), clock, access })
}
