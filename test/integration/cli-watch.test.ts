import { cron, defineJob } from '@cronce/core'
import { registerJob } from '@cronce/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RedisServer, spawnProcess, startRedis } from '../support/index.ts'
import type { LogLine } from '../support/log-line.ts'
import { openStage, type Stage } from '../support/worker-stage.ts'
import { CLI, cronceHere, errorOf } from './cli-run.ts'

const job = defineJob({ name: 'report', schedule: cron('0 2 * * *'), onCrash: 'complete' })

let server: RedisServer
let stage: Stage

beforeAll(async () => {
  server = await startRedis({ appendonly: 'always' })
  stage = openStage(server)
  await registerJob(stage.store, job, { by: 'pod-1' })
})
afterAll(async () => {
  await stage.close()
  await server.stop()
})

const watch = (...args: string[]) =>
  spawnProcess({
    file: CLI,
    args: [...args, '--watch', '--every', '100ms', '--redis', server.url, '--service', stage.service],
    ready: (line) => line.stream === 'out',
    timeoutMs: 30_000,
  })

const isReading = (line: LogLine) => line.stream === 'out' && line.json?.['error'] === undefined
const isError = (line: LogLine) => line.stream === 'out' && line.json?.['error'] !== undefined

describe('--watch', () => {
  it.each([
    [['runs'], 'runs'],
    [['jobs'], 'jobs'],
    [['jobs', 'report'], 'generations'],
    [['overdue'], 'overdue'],
    [['dead', 'list'], 'dead'],
    [['replicas'], 'workers'],
  ])('of %j writes one object per line, and ends with 0 at Ctrl-C', async (verb, field) => {
    const child = await watch(...verb, '--json')
    await child.waitForLine((line) => line !== child.lines[0] && isReading(line))
    child.signal('SIGINT')
    expect(await child.exited).toEqual({ code: 0, signal: null })
    for (const { stream, json } of child.lines) expect([stream, json?.[field]]).toEqual(['out', expect.any(Array)])
  })

  it('of a run sees what becomes of it', async () => {
    const run = await stage.start(job)
    const child = await watch('show', run.slot, '--json')
    const from = child.lines.length
    await stage.redis.hset(`cronce:{${stage.service}:job:report}:slot:${run.id}`, 'state', 'running')
    const { json } = await child.waitForLine((line) => line.json?.['state'] === 'running', { from })
    expect(json).toMatchObject({ slot: run.slot })
    child.signal('SIGTERM')
    expect((await child.exited).code).toBe(0)
  })

  it('tells that Redis went away, waits, and goes on when it is back', async () => {
    const child = await watch('jobs', '--json')
    await server.kill()
    const gone = await child.waitForLine(isError)
    expect(gone.json).toMatchObject({ error: { code: 'CRONCE_REDIS_UNREACHABLE' } })
    const from = child.lines.length
    await server.restart()
    const back = await child.waitForLine(isReading, { from })
    expect(back.json).toMatchObject({ jobs: [{ job: 'report' }] })
    child.signal('SIGINT')
    expect(await child.exited).toEqual({ code: 0, signal: null })
    expect(child.lines.filter(({ stream }) => stream === 'err')).toEqual([])
  })

  it('ends at Ctrl-C within a moment though Redis hangs', async () => {
    const child = await watch('runs', '--json')
    await server.kill('SIGSTOP')
    const askedAt = performance.now()
    child.signal('SIGINT')
    const { code } = await child.exited
    await server.kill('SIGCONT')
    expect(code).toBe(0)
    expect(performance.now() - askedAt).toBeLessThan(2_500)
  })

  it('refuses a first look that fails, as without it', async () => {
    const target = { url: server.url, service: stage.service }
    const unknown = await cronceHere(['show', 'nobody@20260101T000000Z', '--watch', '--json'], target)
    expect([unknown.code, errorOf(unknown).code]).toEqual([2, 'CRONCE_RUN_UNKNOWN'])
    const often = await cronceHere(['runs', '--watch', '--every', '1ms', '--json'], target)
    expect([often.code, errorOf(often).code]).toEqual([2, 'CRONCE_USAGE'])
  })
})
