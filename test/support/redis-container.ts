import { GenericContainer, Wait } from 'testcontainers'
import type { RedisServer } from './redis-server.ts'

const IMAGE = 'redis:7-alpine'
const COMMAND = ['redis-server', '--save', '', '--appendonly', 'no', '--hz', '100', '--maxmemory-policy', 'noeviction']

/** A Redis in a container, for machines with Docker and no redis-server. It can be stopped and restarted, not frozen. */
export async function startRedisContainer(): Promise<RedisServer> {
  const container = await new GenericContainer(IMAGE)
    .withCommand(COMMAND)
    .withExposedPorts(6379)
    .withWaitStrategy(Wait.forLogMessage('Ready to accept connections'))
    .start()
  const port = container.getMappedPort(6379)
  const refuse = async () => {
    throw new Error('this Redis runs in a container: install redis-server to run tests that kill it')
  }
  const stop = async () => void (await container.stop())
  return { url: `redis://${container.getHost()}:${port}`, port, owner: 'shared', stop, kill: refuse, restart: refuse }
}
