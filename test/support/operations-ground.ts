import type { ServiceAccess } from '@cronce/operations'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { accessOf } from './by-hand.ts'
import { createFleet, type Fleet } from './fleet.ts'
import { type RedisServer, startRedis } from './redis-server.ts'

/** A service of one test's own, at noon of a virtual day, and what operations work on. */
export interface OperationsGround {
  readonly fleet: Fleet
  readonly access: ServiceAccess
}

/** Has a Redis for this test file and a service for each of its tests, and takes them away afterwards. */
export function standOnGround(name: string, onTest: (ground: OperationsGround) => void): void {
  let redis: RedisServer
  let ground: OperationsGround
  let services = 0
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())
  beforeEach(() => {
    services += 1
    const fleet = createFleet({ url: redis.url, service: `${name}-${services}` })
    ground = { fleet, access: accessOf(fleet) }
    onTest(ground)
  })
  afterEach(async () => {
    await ground.access.enqueuer.close()
    await ground.fleet.close()
  })
}
