import { cron, defineJob } from '@cronce/core'
import { listActions, revealDeadLetters, showDeadLetter, upsertJob } from '@cronce/operations'
import { createEnqueuer, DEAD_LETTER_QUEUE, showDeadLetters } from '@cronce/queue'
import { queuePrefix, readJob } from '@cronce/store'
import { handle, NonRetryableError } from '@cronce/worker'
import { Queue } from 'bullmq'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type RedisServer, startRedis } from '../support/index.ts'
import type { StartedRun } from '../support/start-run.ts'
import { openStage, type Stage } from '../support/worker-stage.ts'
import { cronceHere } from './cli-run.ts'

const IBAN = 'DE02120300000000202051'

const account = z.object({ id: z.string(), iban: z.string(), owner: z.object({ name: z.string() }) })
const payout = defineJob({
  name: 'payout',
  schedule: cron('0 2 * * *'),
  onCrash: 'complete',
  entity: { schema: account, key: ({ id }) => id },
  retry: { attempts: 1 },
  redact: ['iban', 'owner.name'],
})

let server: RedisServer
let stage: Stage
let run: StartedRun
let id: string
const access = () => ({
  store: stage.store,
  enqueuer: createEnqueuer({ redis: stage.redis, service: stage.service }),
  random: () => 0.5,
})
const call = (...args: string[]) => cronceHere(args, { url: server.url, service: stage.service })

beforeAll(async () => {
  server = await startRedis()
  stage = openStage(server)
  await stage.work([
    handle(payout, {
      entities: () => ({ entities: [{ id: 'a-1', iban: IBAN, owner: { name: 'Ada Lovelace' } }], next: null }),
      each: ({ iban, owner }) => {
        throw new NonRetryableError(`no account ${iban} of ${owner.name} at the bank`)
      },
    }),
  ])
  run = await stage.start(payout)
  await stage.ended(run)
  id = `${run.slot}/a-1`
})
afterAll(async () => {
  await stage.close()
  await server.stop()
})

describe('what a definition hides of its payloads', () => {
  it('is in no list, letter, export or error that people see, and the rest is', async () => {
    const letter = await showDeadLetter(stage.store, id)
    expect(letter).toMatchObject({
      redacted: true,
      payload: { id: 'a-1', iban: '[redacted]', owner: { name: '[redacted]' } },
      errors: [{ message: 'no account [redacted] of [redacted] at the bank' }],
    })
    for (const args of [
      ['dead', 'show', id],
      ['dead', 'list'],
      ['dead', 'export'],
      ['show', run.slot],
    ]) {
      for (const form of [[], ['--json']]) {
        const { out, err } = await call(...args, ...form)
        expect(out).toContain('a-1')
        expect(out + err).not.toMatch(/DE0212|Lovelace/)
      }
    }
  })

  it('is not on the queue that any board shows', async () => {
    const prefix = queuePrefix(stage.service, DEAD_LETTER_QUEUE)
    const queue = new Queue(DEAD_LETTER_QUEUE, { connection: stage.redis, prefix })
    for (const when of ['as a worker shows it', 'as it is shown anew']) {
      if (when === 'as it is shown anew') await showDeadLetters({ ...access(), job: 'payout', ids: [id] })
      const view = JSON.stringify(await queue.getJob(id))
      expect([when, view]).toEqual([when, expect.stringContaining('a-1')])
      expect(view).not.toMatch(/DE0212|Lovelace/)
    }
    await queue.close()
  })

  it('is shown to who asks for it as an admin, and the journal says who', async () => {
    const before = (await listActions(stage.store)).rows.length
    const { out } = await call('dead', 'show', id, '--reveal', '--as', 'kim')
    expect(out).toContain(IBAN)
    const stretch = ['--job', 'payout', '--from', '2000-01-01', '--to', '2100-01-01T00:00:00Z']
    expect((await call('dead', 'export', ...stretch, '--reveal')).out).toContain('Ada Lovelace')
    const { rows } = await listActions(stage.store)
    expect(rows[0]?.selection).toBe('export job=payout from=2000-01-01T00:00:00.000Z to=2100-01-01T00:00:00.000Z')
    expect(rows.length).toBe(before + 2)
    expect(rows[1]).toMatchObject({
      action: 'reveal',
      by: 'kim',
      way: 'cli',
      job: 'payout',
      slots: [run.slot],
      counts: { letters: 1 },
    })
    const asked = { operator: { name: 'olga', role: 'operator' }, selection: id } as const
    const refused = revealDeadLetters(access(), asked, (show) => show(id))
    await expect(refused).rejects.toMatchObject({ code: 'CRONCE_NOT_ALLOWED' })
    expect((await listActions(stage.store)).rows.length).toBe(before + 2)
  })

  it('is hidden whole where nobody can read the definition', async () => {
    const key = `cronce:{${stage.service}:job:payout}:job`
    const settings = await stage.redis.hget(key, 'settings')
    await stage.redis.hset(key, 'settings', '{"of":"a newer release"}')
    expect(await showDeadLetter(stage.store, id)).toMatchObject({ payload: '[redacted]', redacted: true })
    await stage.redis.hset(key, 'settings', settings ?? '')
    expect(await showDeadLetter(stage.store, id)).toMatchObject({ payload: { id: 'a-1' } })
  })

  it('is no part of the schedule: a change of it is no edit, and holds for letters from before', async () => {
    const tenant = { name: 'tenant', schedule: cron('0 2 * * *'), onCrash: 'skip' } as const
    const operator = { name: 'kim' }
    await upsertJob(access(), { job: tenant, operator })
    const changed = await upsertJob(access(), { job: { ...tenant, redact: 'all' }, operator })
    expect(changed).toMatchObject({ status: 'changed', generation: 1 })
    expect((await readJob(stage.store, 'tenant'))?.settings).toMatchObject({ redact: 'all' })
    const plain = defineJob({ ...payoutInput(), redact: ['owner'] })
    const key = `cronce:{${stage.service}:job:payout}:job`
    await stage.redis.hset(key, 'settings', JSON.stringify({ ...plain, entity: undefined }))
    expect(await showDeadLetter(stage.store, id)).toMatchObject({ payload: { iban: IBAN, owner: '[redacted]' } })
  })
})

function payoutInput() {
  return { name: 'payout', schedule: cron('0 2 * * *'), onCrash: 'complete', retry: { attempts: 1 } } as const
}
