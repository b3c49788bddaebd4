import { readFileSync } from 'node:fs'
import { cron, defineJob, every, type JobDefinition, type OverlapPolicy } from '@cronce/core'

interface ProductionSchedule {
  readonly service: string
  readonly name: string
  readonly cron?: string
  readonly everySeconds?: number
  readonly tz: string
  readonly unsupported?: string
}

/** Mostly `allow`; some of each other policy. */
const OVERLAPS: readonly OverlapPolicy[] = [
  'allow',
  'allow',
  'allow',
  'allow',
  'allow',
  'skip',
  'queue',
  'cancel-previous',
]

/** The schedules that public services run, as jobs of one service. */
export function productionJobs(): JobDefinition[] {
  const file = new URL('../data/production-schedules.json', import.meta.url)
  const listed = JSON.parse(readFileSync(file, 'utf8')) as readonly ProductionSchedule[]
  return listed
    .filter(({ unsupported }) => unsupported === undefined)
    .map(({ service, name, cron: expression, everySeconds = 0, tz }, index) =>
      defineJob({
        name: `${service}/${name}`,
        schedule: expression === undefined ? every(everySeconds * 1000) : cron(expression, { zone: tz }),
        onCrash: 'complete',
        overlap: OVERLAPS[index % OVERLAPS.length] ?? 'allow',
        catchUp: { mode: 'late', within: '1h', atMost: 10 },
        queue: index % 4 === 0 ? 'slow' : 'default',
      }),
    )
}
