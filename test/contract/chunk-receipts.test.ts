import { DEFAULT_FOLD_AFTER_MS, maintainReceipts, pgAdapter } from '@cronce/store/postgres'
import type { PoolClient } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { describeNeeding, type PostgresServer, startPostgres, waitUntil } from '../support/index.ts'
import { openPostgresGround, type PostgresGround } from './postgres-ground.ts'

const KEYS = ['a', 'b%', 'c\0', "d'", 'ü"{},', 'f']

describeNeeding(['postgres'], 'an effect of a chunk in one Postgres transaction (R2)', () => {
  let server: PostgresServer
  let ground: PostgresGround
  let tokens = 0
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.stop())
  beforeEach(async () => {
    ground = await openPostgresGround(server)
  })
  afterEach(() => ground.close())

  interface Asked {
    readonly entities?: readonly string[]
    readonly fence?: number
    readonly afterwards?: (tx: PoolClient) => Promise<unknown>
  }
  /** An effect of these entities; each writes its position. */
  function effect({ entities = KEYS, fence = 1, afterwards }: Asked = {}) {
    const { entity: _, ...ref } = ground.ref()
    const request = { fence, idleMs: 60_000, token: `t${(tokens += 1)}` }
    return ground.receipts.transactionOfMany({ ...ref, entities }, request, async (tx, taken) => {
      const client = tx as PoolClient
      const names = taken.map((index) => encodeURIComponent(entities[index] ?? ''))
      await client.query('insert into effect select unnest($1::text[]), 0', [names])
      await afterwards?.(client)
    })
  }
  const all = KEYS.map((key) => encodeURIComponent(key))

  it('happens for all of them, and is not called where each has its receipt', async () => {
    expect(await effect()).toEqual({ status: 'done', taken: [0, 1, 2, 3, 4, 5] })
    expect(await effect({ afterwards: () => expect.unreachable() })).toEqual({ status: 'done', taken: [] })
    expect(await ground.happened()).toEqual(all)
  })

  it('happens for those only that have no receipt, alone or together, in any order', async () => {
    await ground.effect(ground.ref({ entity: 'b%' }))
    await effect({ entities: ['f', 'a'] })
    expect(await effect()).toEqual({ status: 'done', taken: [2, 3, 4] })
    expect(await ground.effect(ground.ref({ entity: "d'" }))).toMatchObject({ status: 'skipped' })
  })

  it('that throws leaves nothing behind, of none of them', async () => {
    await expect(effect({ afterwards: () => Promise.reject(new Error('no')) })).rejects.toThrow('no')
    await expect(
      effect({ afterwards: (tx) => tx.query('insert into nowhere values (1)').catch(() => undefined) }),
    ).rejects.toMatchObject({ code: 'CRONCE_TRANSACTION_ABORTED' })
    expect(await ground.happened()).toEqual([])
    expect(await effect()).toMatchObject({ taken: [0, 1, 2, 3, 4, 5] })
  })

  it('waits for one of them that is leased elsewhere, and then happens for it or not, by what that came to', async () => {
    const lease = { fence: 1, token: 'other', leaseMs: 60_000 }
    for (const entity of ['a', 'f']) await ground.receipts.take(ground.ref({ entity }), lease)
    expect(await effect()).toMatchObject({ status: 'leased' })
    await ground.receipts.write(ground.ref({ entity: 'a' }), 'other')
    await ground.receipts.release(ground.ref({ entity: 'f' }), 'other')
    expect(await ground.happened()).toEqual([])
    expect(await effect()).toEqual({ status: 'done', taken: [1, 2, 3, 4, 5] })
  })

  it('takes over what a dead attempt had leased', async () => {
    await ground.receipts.take(ground.ref({ entity: 'a' }), { fence: 1, token: 'dead', leaseMs: 1 })
    const answer = await waitUntil(
      async () => {
        const asked = await effect()
        return asked.status === 'done' ? asked : undefined
      },
      { message: 'the lease is over' },
    )
    expect(answer.taken).toHaveLength(6)
    expect(await ground.receipts.write(ground.ref({ entity: 'a' }), 'dead')).toBe('already')
  })

  it('is refused to a holder before, and skipped by the fold', async () => {
    await effect({ entities: ['a', 'f'], fence: 2 })
    expect(await effect({ fence: 1 })).toEqual({ status: 'fenced' })
    const { entity: _, effect: __, ...chunk } = ground.ref()
    await ground.receipts.closeChunks([{ ...chunk, fence: 2 }])
    const now = new Date().getTime()
    const later = Math.max(now, Date.UTC(2026, 7, 25)) + DEFAULT_FOLD_AFTER_MS + 86_400_000
    await maintainReceipts(pgAdapter(ground.pool), { now: later })
    expect((await ground.pool.query('select 1 from cronce.receipt')).rows).toEqual([])
    expect(await effect({ fence: 3 })).toEqual({ status: 'done', taken: [1, 2, 3, 4] })
  })

  it('asked for by many at the same instant, whole and in parts, happens once for each', async () => {
    const ask = async (asked: Asked): Promise<void> => {
      await waitUntil(async () => (await effect(asked)).status === 'done', { message: 'its turn' })
    }
    const parts = [KEYS, KEYS.toReversed(), KEYS.slice(0, 3), KEYS.slice(2), ['f', 'a'], KEYS]
    await Promise.all(parts.map((entities) => ask({ entities })))
    expect((await ground.happened()).toSorted()).toEqual(all.toSorted())
  })
})
