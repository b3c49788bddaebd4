import { cron, defineJob, formatSlotId } from '@cronce/core'
import { createEnqueuer } from '@cronce/queue'
import { heartbeatReplica, heartbeatWorker, registerJob, scanKeyOwners } from '@cronce/store'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../support/index.ts'
import { openStage, type Stage } from '../support/worker-stage.ts'
import { type CliRun, cronceHere } from './cli-run.ts'

const job = defineJob({ name: 'report', schedule: cron('0 2 * * *'), onCrash: 'complete', queue: 'reports' })

interface Finding {
  readonly level: string
  readonly name: string
  readonly text: string
  readonly fix: string
}

let server: RedisServer
let stage: Stage

beforeAll(async () => {
  server = await startRedis({ appendonly: 'always' })
})
afterAll(() => server.stop())
beforeEach(async () => {
  stage = openStage(server)
  await registerJob(stage.store, job, { by: 'pod-1' })
  await replica('pod-1', '1.8.1')
  await worker('w-1', '1.8.1')
})
afterEach(() => stage.close())

const doctor = (...args: string[]): Promise<CliRun> =>
  cronceHere(['doctor', ...args], { url: server.url, service: stage.service })

const findingsOf = (run: CliRun) => (run.json() as { findings: Finding[] }).findings

const about = (release: string) => ({ release, host: 'h', pid: 1, startedAt: new Date().getTime() })

async function replica(id: string, release: string, skewMs = 0): Promise<void> {
  const presence = { ...about(release), id, skewMs, jobs: 1, loopLateMs: 0, tzdata: '2025c', images: {} }
  await heartbeatReplica(stage.store, presence, new Date().getTime())
}

async function worker(id: string, release: string): Promise<void> {
  const presence = { ...about(release), id, queues: { reports: 1 }, handlers: {}, active: 0 }
  await heartbeatWorker(stage.store, presence, new Date().getTime())
}

describe('doctor', () => {
  it('finds nothing in a service that is well, and exits with 0', async () => {
    const answer = await doctor('--json')
    expect([answer.code, findingsOf(answer)]).toEqual([0, []])
    expect(answer.json()).toMatchObject({
      prefix: `cronce:{${stage.service}}`,
      redis: { evictionPolicy: 'noeviction', persistence: 'aof', hz: 100 },
      releases: [{ name: '1.8.1', replicas: ['pod-1'], workers: ['w-1'] }],
      versions: [{ name: expect.stringMatching(/^\d+\.\d+\.\d+/), replicas: ['pod-1'], workers: ['w-1'] }],
      orphans: { owners: [], extent: 'whole' },
    })
  })

  it('shows releases side by side, and whose clock differs, with what to do about each', async () => {
    await replica('pod-2', '1.8.2', 1_200)
    await worker('w-2', '1.8.2')
    const answer = await doctor('--json')
    expect([answer.code, findingsOf(answer).map(({ level, name, text }) => [level, name, text])]).toEqual([
      0,
      [
        ['warning', 'skew', "the clock of pod-2 differs from Redis's by 1200 ms"],
        ['warning', 'releases', '2 releases side by side: 1.8.1 (pod-1, w-1); 1.8.2 (pod-2, w-2)'],
      ],
    ])
    const text = (await doctor()).out
    for (const { fix } of findingsOf(answer)) {
      expect(fix).not.toBe('')
      expect(text.replaceAll(/\s+/g, ' ')).toContain(fix)
    }
  })

  it('shows versions of Cronce side by side, also one that does not say', async () => {
    const key = `cronce:{${stage.service}}:workers`
    const presence = JSON.parse((await stage.redis.hget(key, 'w-1')) ?? '') as object
    await stage.redis.hset(key, 'w-3', JSON.stringify({ ...presence, id: 'w-3', version: '0.0.9' }))
    await stage.redis.hset(key, 'w-4', JSON.stringify({ ...presence, id: 'w-4', version: undefined }))
    const [finding, ...others] = findingsOf(await doctor('--json'))
    expect(others).toEqual([])
    expect(finding).toMatchObject({
      name: 'versions',
      text: expect.stringMatching(
        /^3 versions of Cronce side by side: one that does not say \(w-4\); 0\.0\.9 \(w-3\); .* \(pod-1, w-1\)$/,
      ),
    })
  })

  it('finds keys of jobs that nobody knows and of queues that nobody serves; tasks on one of them are exit 1', async () => {
    const other = createEnqueuer({ redis: stage.redis, service: `${stage.service}2` })
    await stage.redis.set(`cronce:{${stage.service}:job:old%3Ajob}:claim:20260101T000000Z`, 'x')
    await stage.redis.set(`cronce:{${stage.service}:job:old%3Ajob}:done`, 'x')
    const task = { kind: 'plan', job: 'report', id: formatSlotId(0), number: 1, version: 1 } as const
    await stage.enqueuer.add('reports', [task])
    const quiet = await doctor('--json')
    expect([quiet.code, findingsOf(quiet).map(({ level, name }) => [level, name])]).toEqual([
      0,
      [['warning', 'orphans']],
    ])
    await stage.enqueuer.add('retired', [task])
    await other.add('theirs', [task])
    await other.close()
    const answer = await doctor('--json')
    expect([answer.code, answer.json()]).toEqual([
      1,
      expect.objectContaining({
        orphans: {
          extent: 'whole',
          owners: [
            { kind: 'job', name: 'old:job', keys: 2, tasks: 0, pattern: `cronce:{${stage.service}:job:old%3Ajob}*` },
            expect.objectContaining({ kind: 'queue', name: 'retired', tasks: 1 }),
          ],
        },
      }),
    ])
    const [ofJob, ofQueue] = findingsOf(answer)
    expect(ofJob).toMatchObject({ level: 'warning', text: '2 keys of job "old:job", which the service does not know' })
    expect(ofQueue).toMatchObject({
      level: 'error',
      text: '1 task on queue "retired", which no job names and no worker serves',
    })
    expect(await stage.redis.info('commandstats')).not.toContain('cmdstat_keys:')
  })

  it('looks at no more keys than it is bounded to, and says so', async () => {
    const pipeline = stage.redis.pipeline()
    for (let index = 0; index < 5_000; index += 1) pipeline.set(`cronce:{${stage.service}:job:lost}:${index}`, '')
    await pipeline.exec()
    const whole = await scanKeyOwners(stage.store, { most: 1_000_000 })
    expect([whole.extent, whole.owners.find(({ name }) => name === 'lost')?.keys]).toEqual(['whole', 5_000])
    const part = await scanKeyOwners(stage.store, { most: 1_000 })
    expect(part.extent).toBe('part')
    const seen = part.owners.reduce((sum, { keys }) => sum + keys, 0)
    expect(seen).toBeLessThan(3_000)
  })

  it('takes a name of a service as it is, whatever a pattern would make of it', async () => {
    const named = { ...stage.store, service: 'a*b[c]?' }
    await stage.redis.set('cronce:{a*b[c]?:job:mine}:job', '')
    await stage.redis.set('cronce:{axbc!:job:other}:job', '')
    const { owners } = await scanKeyOwners(named, { most: 1_000_000 })
    expect(owners.map(({ name }) => name)).toEqual(['mine'])
  })
})
