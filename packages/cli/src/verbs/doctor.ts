import { tzdataVersion } from '@cronce/core'
import {
  examineRedis,
  examineService,
  findingsOfSkew,
  measureSkew,
  type QueueReport,
  type RedisReport,
  type ServiceReport,
} from '@cronce/operations'
import { serviceKey } from '@cronce/store'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { presenceJson } from '../json/presence-json.ts'
import { withService } from '../service-connection.ts'
import { presenceLines } from '../text/presence-text.ts'
import { printable } from '../text/printable.ts'
import { findingLines, redisLine } from '../text/redis-text.ts'
import { table } from '../text/table.ts'

/** `doctor`: Redis, clocks, processes and queues, and what is wrong with them. */
export async function doctor(context: Context): Promise<Answer> {
  const { clock, terminal } = context
  const [name, redis, service, skewMs] = await withService(context, async (access) => [
    access.store.service,
    await examineRedis(access.store.redis),
    await examineService(access),
    await measureSkew(access, () => clock.now()),
  ])
  const findings = [...redis.findings, ...findingsOfSkew('this machine', skewMs), ...service.findings]
  return {
    json: {
      redis: redisJson(redis),
      skewMs,
      tzdata: tzdataVersion(),
      prefix: serviceKey(name),
      ...presenceJson(service.presences),
      queues: service.queues,
      releases: service.releases,
      versions: service.versions,
      orphans: service.orphans,
      findings,
    },
    text: () => [
      `${redisLine(redis)}   skew ${skewMs} ms   tzdata ${tzdataVersion()}`,
      printable(` keys ${serviceKey(name)}...`),
      ...presenceLines(service.presences, terminal),
      ...queueLines(service.queues, context),
      ...extentLines(service),
      ...findingLines(findings, terminal),
    ],
    exit: findings.some(({ level }) => level === 'error') ? 'found' : 'well',
  }
}

/** What is told of a server, in JSON. */
export function redisJson({ address, facts }: RedisReport): Readonly<Record<string, unknown>> {
  return { address, ...facts }
}

/** Said where it is so: what was not looked at may hold orphans as well. */
function extentLines({ orphans }: ServiceReport): string[] {
  return orphans.extent === 'whole'
    ? []
    : [' a part of the keys of Redis was looked at for orphans: there are too many']
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
