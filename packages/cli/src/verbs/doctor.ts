import { tzdataVersion } from '@cronce/core'
import {
  examineRedis,
  examineService,
  type Finding,
  measureSkew,
  type QueueReport,
  type RedisReport,
  SKEW_BOUND_MS,
} from '@cronce/operations'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { presenceJson } from '../json/presence-json.ts'
import { withService } from '../service-connection.ts'
import { presenceLines } from '../text/presence-text.ts'
import { findingLines, redisLine } from '../text/redis-text.ts'
import { table } from '../text/table.ts'

/** `doctor`: Redis, clocks, processes and queues, and what is wrong with them. */
export async function doctor(context: Context): Promise<Answer> {
  const { clock, terminal } = context
  const [redis, service, skewMs] = await withService(context, async (access) => [
    await examineRedis(access.store.redis),
    await examineService(access),
    await measureSkew(access, () => clock.now()),
  ])
  const findings = [...redis.findings, ...ownSkew(skewMs), ...service.findings]
  return {
    json: {
      redis: redisJson(redis),
      skewMs,
      tzdata: tzdataVersion(),
      ...presenceJson(service.presences),
      queues: service.queues,
      findings,
    },
    text: () => [
      `${redisLine(redis)}   skew ${skewMs} ms   tzdata ${tzdataVersion()}`,
      ...presenceLines(service.presences, terminal),
      ...queueLines(service.queues, context),
      ...findingLines(findings, terminal),
    ],
    exit: findings.some(({ level }) => level === 'error') ? 'found' : 'well',
  }
}

/** What is told of a server, in JSON. */
export function redisJson({ address, facts }: RedisReport): Readonly<Record<string, unknown>> {
  return { address, ...facts }
}

function ownSkew(skewMs: number): Finding[] {
  if (Math.abs(skewMs) <= SKEW_BOUND_MS) return []
  return [{ level: 'warning', name: 'skew', text: `the clock of this machine differs from Redis's by ${skewMs} ms` }]
}

function queueLines(queues: readonly QueueReport[], { terminal: { width, paint } }: Context): string[] {
  return table({
    columns: [
      { title: 'queue' },
      { title: 'workers' },
      { title: 'waiting' },
      { title: 'active' },
      { title: 'delayed' },
    ],
    rows: queues.map(({ queue, workers, waiting, active, delayed }) =>
      [queue, workers, waiting, active, delayed].map(String),
    ),
    width,
    paint,
  })
}
