import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { createFleet, type Fleet } from './fleet.ts'
import { type RedisServer, startRedis } from './redis-server.ts'

/** Has a Redis for this test file and, for each of its tests, a service of its own, at noon of a virtual day; takes them away afterwards. */
export function standOnFleet(name: string, onTest: (fleet: Fleet) => void): void {
  let redis: RedisServer
  let fleet: Fleet
  let services = 0
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())
  beforeEach(() => {
    services += 1
    fleet = createFleet({ url: redis.url, service: `${name}-${services}` })
    onTest(fleet)
  })
  afterEach(() => fleet.close())
}
