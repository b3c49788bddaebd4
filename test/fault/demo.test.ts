import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect, createStore, listReplicas, listWorkers } from '@cronce/store'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import {
  describeNeeding,
  type RedisServer,
  ROOT,
  type SpawnedProcess,
  spawnProcess,
  startRedis,
  waitUntil,
} from '../support/index.ts'

const REPORT_ENTITIES = 20_000
const DECLINED = 3
const MINUTES_MS = 60_000

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describeNeeding(['redis-server'], 'the demo', () => {
  let redis: RedisServer
  let running: SpawnedProcess | undefined

  beforeAll(async () => {
    redis = await startRedis()
  })
  afterEach(async () => {
    await running?.kill()
    running = undefined
  })
  afterAll(() => redis.stop())

  async function demo(...args: string[]): Promise<SpawnedProcess> {
    running = await spawnProcess({ file: 'apps/demo/src/main.ts', args, env: { REDIS_URL: redis.url } })
    return running
  }

  const summaryOf = (process: SpawnedProcess) => process.lines.filter(({ stream }) => stream === 'out').at(-1)?.json
  const complaints = (process: SpawnedProcess) => process.lines.filter(({ text }) => /FAULT|by itself/.test(text))

  it('counts exactly one attempt per replica and slot, one run per slot and one effect per entity', {
    timeout: 3 * MINUTES_MS,
  }, async () => {
    const process = await demo('--slots', '5', '--replicas', '3', '--workers', '2', '--json', '--no-kill')
    const exit = await process.exited
    expect(complaints(process)).toEqual([])
    expect(exit).toEqual({ code: 0, signal: null })
    expect(summaryOf(process)).toEqual({
      slots: 5,
      replicas: 3,
      attempts: 15,
      runs: 5,
      skips: 10,
      duplicateRuns: 0,
      lostSlots: 0,
      lateness: { p50: expect.any(Number), p99: expect.any(Number) },
      entities: REPORT_ENTITIES,
      entitiesDone: REPORT_ENTITIES - DECLINED,
      deadLetters: DECLINED,
      duplicateEffects: 0,
      effectRepeats: 0,
      kills: 0,
    })
  })

  it('loses and doubles nothing when a replica and a worker with a chunk in its hands are killed', {
    timeout: 3 * MINUTES_MS,
  }, async () => {
    const process = await demo('--slots', '5', '--replicas', '3', '--workers', '2', '--json')
    const exit = await process.exited
    expect(complaints(process)).toEqual([])
    expect(exit).toEqual({ code: 0, signal: null })
    expect(
      process.lines.some(({ text }) => /killed worker-\d \(SIGKILL\) with chunk [\d, ]+ of the report/.test(text)),
    ).toBe(true)
    expect(process.lines.some(({ text }) => /killed replica-\d \(SIGKILL\); replica-4 starts/.test(text))).toBe(true)
    expect(summaryOf(process)).toMatchObject({
      slots: 5,
      duplicateRuns: 0,
      lostSlots: 0,
      entities: REPORT_ENTITIES,
      entitiesDone: REPORT_ENTITIES - DECLINED,
      deadLetters: DECLINED,
      duplicateEffects: 0,
      kills: 2,
    })
  })

  it('ends a long report exactly under kill after kill, and redrives what it left', {
    timeout: 5 * MINUTES_MS,
  }, async () => {
    const process = await demo(
      ...['--entities', '2000', '--kill-every', '1s'],
      ...['--slots', '3', '--replicas', '2', '--workers', '2', '--json'],
    )
    const exit = await process.exited
    expect(complaints(process)).toEqual([])
    expect(exit).toEqual({ code: 0, signal: null })
    const summary = summaryOf(process)
    expect(summary).toMatchObject({
      duplicateRuns: 0,
      lostSlots: 0,
      entities: 2_000,
      entitiesDone: 2_000 - DECLINED,
      deadLetters: DECLINED,
      duplicateEffects: 0,
      redriven: { entities: DECLINED, entitiesDone: 2_000, deadLetters: 0 },
    })
    expect(summary?.['kills']).toBeGreaterThan(0)
  })

  it('runs until it is told to stop, tells the command line where, and leaves nothing behind', {
    timeout: 2 * MINUTES_MS,
  }, async () => {
    const process = await demo('--replicas', '2', '--workers', '1', '--no-kill')
    await process.waitForLine(/all are ready/, { timeoutMs: 30_000 })
    const state = join(ROOT, '.cronce/state.json')
    const readState = async () => JSON.parse(await readFile(state, 'utf8')) as { pid: number }
    // A demo that somebody runs from this folder keeps its state file; this one then says so.
    const announced = await waitUntil(
      async () => {
        if (process.lines.some(({ text }) => text.includes('another system runs'))) return 'taken'
        return (await readState()).pid === process.pid && 'announced'
      },
      { message: 'the state file' },
    )
    await process.waitForLine(/package-report@\S+ {2}\d{4,} done/, { timeoutMs: 60_000 })
    const askedAt = performance.now()
    expect(await process.kill('SIGINT')).toEqual({ code: 0, signal: null })
    expect(performance.now() - askedAt).toBeLessThan(10_000)
    if (announced === 'announced') await expect(readState()).rejects.toThrow('ENOENT')
  })

  it('takes its processes along when it is killed', { timeout: 2 * MINUTES_MS }, async () => {
    const process = await demo('--replicas', '2', '--workers', '1', '--no-kill')
    await process.waitForLine(/all are ready/, { timeoutMs: 60_000 })
    const client = connect(redis.url, 'producer')
    const store = createStore({ redis: client, service: 'cronce' })
    const ids = ['replica-1', 'replica-2', 'worker-1']
    const present = await waitUntil(
      async () => {
        const heard = [...(await listReplicas(store, 0)), ...(await listWorkers(store, 0))]
        const pids = heard.filter(({ id, pid }) => ids.includes(id) && isAlive(pid)).map(({ pid }) => pid)
        return pids.length === ids.length && pids
      },
      { message: 'every process of the demo saying that it is there' },
    )
    client.disconnect()
    await process.kill('SIGKILL')
    await waitUntil(() => !present.some(isAlive), { message: 'the end of every process of the demo' })
  })

  it('refuses faulty options with code 2, naming every fault', async () => {
    const process = await demo('--replicas', '0', '--json')
    expect(await process.exited).toEqual({ code: 2, signal: null })
    const text = process.lines.map((line) => line.text).join('\n')
    expect(text).toContain('--replicas: expected a whole number')
    expect(text).toContain('--json: expected --slots')
  })
})
