import { type PostgresAdapter, pgAdapter, postgresReceipts } from '@cronce/store/postgres'
import type { PoolClient } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import {
  describeNeeding,
  type PostgresServer,
  type SpawnedProcess,
  spawnProcess,
  startPostgres,
  waitUntil,
} from '../support/index.ts'
import { openPostgresGround, type PostgresGround } from './postgres-ground.ts'
import type { OwnerConfig } from './programs/effect-owner.ts'

describeNeeding(['postgres'], 'promise 6, an effect in one transaction with its receipt', () => {
  let server: PostgresServer
  let ground: PostgresGround
  const owners: SpawnedProcess[] = []
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.stop())
  beforeEach(async () => {
    ground = await openPostgresGround(server)
  })
  afterEach(async () => {
    await Promise.all(owners.splice(0).map((each) => each.kill()))
    await ground.close()
  })

  /** An owner with fence 1 in a process of its own, at the place where it stops. */
  async function owner(stop: OwnerConfig['stop'], idleMs = 60_000): Promise<SpawnedProcess> {
    const { url, service } = ground
    const config: OwnerConfig = { url, service, ref: ground.ref(), fence: 1, idleMs, stop }
    const file = 'test/contract/programs/effect-owner.ts'
    const spawned = await spawnProcess({ file, args: [JSON.stringify(config)], ready: `stands ${stop}` })
    owners.push(spawned)
    return spawned
  }

  it('happens, and is skipped from then on', async () => {
    expect(await ground.effect(ground.ref())).toMatchObject({ status: 'done' })
    expect(await ground.effect(ground.ref())).toEqual({ status: 'skipped', result: undefined })
    expect(await ground.happened()).toEqual(['a charge'])
  })

  it('that throws leaves nothing behind, and happens at the next attempt', async () => {
    const failed = ground.effect(ground.ref(), {}, () => Promise.reject(new Error('no')))
    await expect(failed).rejects.toThrow('no')
    expect(await ground.happened()).toEqual([])
    expect(await ground.effect(ground.ref())).toMatchObject({ status: 'done' })
    expect(await ground.happened()).toEqual(['a charge'])
  })

  it('asked for by many at the same instant, by two holders, commits exactly once', async () => {
    const asked = Array.from({ length: 10 }, (_, index) => ground.effect(ground.ref(), { fence: 1 + (index % 2) }))
    const answers = (await Promise.all(asked)).map(({ status }) => status)
    expect(answers.filter((status) => status === 'done')).toHaveLength(1)
    expect(await ground.happened()).toEqual(['a charge'])
  })

  it('does not wait for other entities of its chunk', async () => {
    let inside = 0
    const together = async () => {
      inside += 1
      await waitUntil(() => inside === 5, { message: 'five at once' })
    }
    const entities = ['a', 'b', 'c', 'd', 'e']
    await ground.receipts.openChunk({ ...ground.ref(), fence: 1 })
    await Promise.all(entities.map((entity) => ground.effect(ground.ref({ entity }), {}, together)))
    expect((await ground.happened()).toSorted()).toEqual(entities.map((entity) => `${entity} charge`))
  })

  it('may be one of several of its entity', async () => {
    await ground.effect(ground.ref())
    await ground.effect(ground.ref({ effect: 'mail' }))
    await ground.effect(ground.ref({ effect: 'mail' }))
    expect(await ground.happened()).toEqual(['a charge', 'a mail'])
  })

  it('returns to whoever skips it what was kept', async () => {
    const first = await ground.effect(ground.ref(), { keep: 'result' }, async () => ({ invoice: 17 }))
    expect(first).toEqual({ status: 'done', result: { invoice: 17 } })
    expect(await ground.effect(ground.ref())).toEqual({ status: 'skipped', result: { invoice: 17 } })
  })

  it('under the name of another effect is refused: the fingerprints differ', async () => {
    await ground.effect(ground.ref(), { fingerprint: 'EUR 10' })
    expect(await ground.effect(ground.ref(), { fingerprint: 'EUR 10' })).toMatchObject({ status: 'skipped' })
    await expect(ground.effect(ground.ref(), { fingerprint: 'EUR 12' })).rejects.toMatchObject({
      code: 'CRONCE_RECEIPT_CONFLICT',
    })
    expect(await ground.happened()).toEqual(['a charge'])
  })

  it.each(['checked', undefined] as const)(
    'is no success when a failed statement was swallowed: nothing was committed (commit %s)',
    async (commit) => {
      const pg = pgAdapter(ground.pool)
      const unchecked: PostgresAdapter = {
        query: (text, values) => pg.query(text, values),
        transaction: (work) => pg.transaction(work),
      }
      const adapter = commit === undefined ? unchecked : pg
      const receipts = postgresReceipts({ adapter, service: ground.service })
      const swallowed = receipts.transaction(ground.ref(), { fence: 1, token: 't', idleMs: 1000 }, async (tx) => {
        const client = tx as PoolClient
        await client.query(`insert into effect values ('lost', 1)`)
        await client.query('select 1 / 0').catch(() => undefined)
      })
      await expect(swallowed).rejects.toMatchObject({ code: 'CRONCE_TRANSACTION_ABORTED' })
      expect(await ground.happened()).toEqual([])
      expect(await ground.effect(ground.ref())).toMatchObject({ status: 'done' })
    },
  )

  it('is told that its adapter runs the statements of a transaction on several connections', async () => {
    const adapter: PostgresAdapter = {
      query: (text, values) => ground.pool.query(text, values),
      transaction: (work) => work(ground.pool, ground.pool),
    }
    const receipts = postgresReceipts({ adapter, service: ground.service })
    await expect(
      receipts.transaction(ground.ref(), { fence: 1, token: 't', idleMs: 1000 }, async () => undefined),
    ).rejects.toMatchObject({ code: 'CRONCE_TRANSACTION_APART' })
  })

  it('is refused by an adapter of another isolation level', async () => {
    const adapter: PostgresAdapter = {
      query: (text, values) => ground.pool.query(text, values),
      transaction: async (work) => {
        const client = await ground.pool.connect()
        try {
          await client.query('begin isolation level repeatable read')
          return await work(client, client)
        } finally {
          await client.query('rollback')
          client.release()
        }
      },
    }
    const receipts = postgresReceipts({ adapter, service: ground.service })
    await expect(
      receipts.transaction(ground.ref(), { fence: 1, token: 't', idleMs: 1000 }, async () => undefined),
    ).rejects.toMatchObject({ code: 'CRONCE_RECEIPT_ISOLATION' })
  })

  it('happens once when its owner is killed between effect and commit (C58)', async () => {
    const killed = await owner('in transaction')
    await killed.kill()
    expect(await ground.happened()).toEqual([])
    expect(await ground.effect(ground.ref(), { fence: 2 })).toMatchObject({ status: 'done' })
    expect(await ground.happened()).toEqual(['a charge'])
  })

  it('never repeats when its owner is killed after the commit and nobody heard of it (C58)', async () => {
    const killed = await owner('after commit')
    await killed.kill()
    expect(await ground.effect(ground.ref(), { fence: 2 })).toMatchObject({ status: 'skipped' })
    expect(await ground.happened()).toEqual(['a charge'])
  })

  it('an owner frozen in its transaction keeps others waiting for no longer than it may, and commits nothing when it wakes', async () => {
    const frozen = await owner('in transaction', 700)
    frozen.signal('SIGSTOP')
    const hold = { ...ground.ref(), fence: 2 }
    await waitUntil(async () => (await ground.receipts.openChunk(hold)) === 'held', { message: 'the chunk' })
    expect(await ground.effect(ground.ref(), { fence: 2 })).toMatchObject({ status: 'done' })
    await ground.receipts.closeChunks([hold])
    frozen.signal('SIGCONT')
    frozen.signal('SIGUSR2')
    await frozen.waitForLine('first: CRONCE_POSTGRES_UNREACHABLE')
    await frozen.waitForLine('second: fenced')
    expect(await ground.happened()).toEqual(['a charge'])
  })

  it('an owner frozen before the takeover that wakes in time commits, and the newer one skips', async () => {
    const slow = await owner('in transaction')
    expect(await ground.receipts.openChunk({ ...ground.ref(), fence: 2 })).toBe('busy')
    slow.signal('SIGUSR2')
    await slow.waitForLine('first: done')
    expect(await ground.effect(ground.ref(), { fence: 2 })).toMatchObject({ status: 'skipped' })
    expect(await ground.happened()).toEqual(['a charge'])
  })

  it('does not happen twice when Postgres crashes in the middle, and its pool is as good as before', async () => {
    const broken = ground.effect(ground.ref(), {}, async () => {
      await server.kill()
    })
    await expect(broken).rejects.toMatchObject({ code: 'CRONCE_POSTGRES_UNREACHABLE' })
    await expect(ground.effect(ground.ref())).rejects.toMatchObject({ code: 'CRONCE_POSTGRES_UNREACHABLE' })
    await server.restart()
    expect(await ground.happened()).toEqual([])
    expect(await ground.effect(ground.ref())).toMatchObject({ status: 'done' })
    expect(await ground.happened()).toEqual(['a charge'])
    expect(ground.pool.totalCount).toBe(ground.pool.idleCount)
  })
})
