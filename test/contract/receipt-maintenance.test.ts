import { formatSlotId } from '@cronce/core'
import {
  DEFAULT_FOLD_AFTER_MS,
  LEAST_KEEP_MS,
  listMigrations,
  maintainReceipts,
  migrateReceipts,
  type PostgresAdapter,
  pgAdapter,
} from '@cronce/store/postgres'
import { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { describeNeeding, type PostgresServer, startPostgres } from '../support/index.ts'
import { openPostgresGround, type PostgresGround } from './postgres-ground.ts'

const DAY_MS = 86_400_000
/** Later than anything the database's own clock has written. */
const MUCH_LATER_MS = 400 * DAY_MS

describeNeeding(['postgres'], 'receipts in Postgres, over time', () => {
  let server: PostgresServer
  let ground: PostgresGround
  let adapter: PostgresAdapter
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.stop())
  beforeEach(async () => {
    ground = await openPostgresGround(server)
    adapter = pgAdapter(ground.pool)
  })
  afterEach(() => ground.close())

  const now = () => new Date().getTime()
  const count = async (table: string): Promise<number> => {
    const { rows } = await ground.pool.query<{ count: string }>(`select count(*) from cronce.${table}`)
    return Number(rows[0]?.count)
  }

  it('the tables are made once, by however many call at the same instant', async () => {
    const url = await server.createDatabase('empty')
    const pool = new Pool({ connectionString: url })
    try {
      const answers = await Promise.all(Array.from({ length: 5 }, () => migrateReceipts(pgAdapter(pool))))
      const numbers = listMigrations().map(({ number }) => number)
      expect(answers.filter(({ length }) => length > 0)).toEqual([numbers])
      expect(numbers).toEqual(numbers.map((_, index) => index + 1))
      expect(await migrateReceipts(pgAdapter(pool))).toEqual([])
      const { rows } = await pool.query(
        `select c.relname, a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid
         where c.relnamespace = 'cronce'::regnamespace and c.relkind in ('p', 'r') and not c.relispartition
           and a.attnum > 0 and col_description(c.oid, a.attnum) is null`,
      )
      expect(rows).toEqual([])
    } finally {
      await pool.end()
    }
  })

  it('without its tables an effect is refused, saying what to do', async () => {
    await ground.pool.query('drop schema cronce cascade')
    await expect(ground.effect(ground.ref())).rejects.toMatchObject({ code: 'CRONCE_RECEIPT_SCHEMA' })
    expect(await ground.happened()).toEqual([])
  })

  it('R3: receipts of a run at rest fold, and no effect of it happens again', async () => {
    const entities = Array.from({ length: 50 }, (_, index) => `e${index}`)
    for (const entity of entities) await ground.effect(ground.ref({ entity }))
    await ground.effect(ground.ref({ entity: 'kept' }), { keep: 'result' }, async () => 7)
    await ground.effect(ground.ref({ entity: 'printed' }), { fingerprint: 'EUR 10' })
    await ground.receipts.closeChunks([{ ...ground.ref(), fence: 1 }])
    expect((await maintainReceipts(adapter, { now: now() })).folded).toEqual({ runs: 0, receipts: 0 })
    const later = { now: now() + DEFAULT_FOLD_AFTER_MS + DAY_MS }
    expect((await maintainReceipts(adapter, later)).folded).toEqual({ runs: 1, receipts: 50 })
    expect(await count('receipt')).toBe(2)
    expect((await maintainReceipts(adapter, later)).folded).toEqual({ runs: 0, receipts: 0 })
    // The late owner, a redrive and a run that was planned again after a loss: the fold knows them all.
    expect(await ground.effect(ground.ref({ entity: 'e1' }))).toMatchObject({ status: 'fenced' })
    for (const [chunk, fence] of [
      [0, 2],
      [1, 1],
    ] as const) {
      for (const entity of entities) {
        expect(await ground.effect(ground.ref({ entity, chunk }), { fence })).toMatchObject({ status: 'skipped' })
      }
    }
    expect(await ground.effect(ground.ref({ entity: 'kept', chunk: 1 }))).toEqual({ status: 'skipped', result: 7 })
    expect(await ground.effect(ground.ref({ entity: 'new', chunk: 1 }))).toMatchObject({ status: 'done' })
    expect(await ground.happened()).toHaveLength(53)
    // What came after the fold folds as well.
    const again = await maintainReceipts(adapter, { now: later.now + DEFAULT_FOLD_AFTER_MS + DAY_MS })
    expect(again.folded).toEqual({ runs: 1, receipts: 1 })
    expect(await ground.effect(ground.ref({ entity: 'new', chunk: 2 }))).toMatchObject({ status: 'skipped' })
  })

  it('a run with an effect in the middle folds another time', async () => {
    const during = await ground.effect(ground.ref(), {}, () =>
      maintainReceipts(adapter, { now: now() + MUCH_LATER_MS, keepMs: MUCH_LATER_MS * 2 }).then(({ folded }) => folded),
    )
    expect(during.status === 'done' && during.result).toEqual({ runs: 0, receipts: 0 })
    expect(await ground.effect(ground.ref())).toMatchObject({ status: 'skipped' })
  })

  it('months are made ahead, and take over what came before them', async () => {
    await ground.effect(ground.ref())
    expect(await count('receipt_rest')).toBe(1)
    const at = Date.UTC(2026, 6, 3)
    expect(await maintainReceipts(adapter, { now: at })).toMatchObject({ created: ['2026-07', '2026-08', '2026-09'] })
    expect(await maintainReceipts(adapter, { now: at })).toMatchObject({ created: [], dropped: [], busy: [] })
    expect([await count('receipt_rest'), await count('receipt_2026_08')]).toEqual([0, 1])
    expect(await ground.effect(ground.ref())).toMatchObject({ status: 'skipped' })
  })

  it('several that maintain at once do what one does', async () => {
    const all = await Promise.all(
      Array.from({ length: 4 }, () => maintainReceipts(adapter, { now: Date.UTC(2026, 6, 3) })),
    )
    const months = all.flatMap(({ created }) => created).toSorted()
    expect(months).toEqual(['2026-07', '2026-08', '2026-09'])
  })

  it('R5: whole months are dropped when they are past keeping, but not while a run of them is active', async () => {
    await maintainReceipts(adapter, { now: Date.UTC(2026, 6, 3) })
    await ground.effect(ground.ref())
    await ground.effect(ground.ref({ id: formatSlotId(Date.UTC(2001, 0, 1)) }))
    // The slots are long past, their activity is not.
    const { dropped } = await maintainReceipts(adapter, { now: now(), keepMs: LEAST_KEEP_MS })
    expect(dropped).not.toContain('2026-08')
    expect(await count('receipt')).toBe(2)
    const later = await maintainReceipts(adapter, { now: now() + MUCH_LATER_MS })
    expect(later.dropped).toContain('2026-08')
    expect([await count('receipt'), await count('chunk'), await count('fold')]).toEqual([0, 0, 0])
  })

  it('R5: keeping receipts for less long than dead letters is refused', async () => {
    const short = maintainReceipts(adapter, { now: now(), keepMs: LEAST_KEEP_MS - 1 })
    await expect(short).rejects.toMatchObject({ code: 'CRONCE_RECEIPT_RETENTION' })
  })

  it('maintenance gives way to effects under way, and says which months wait', async () => {
    const during = await ground.effect(ground.ref(), {}, () => maintainReceipts(adapter, { now: Date.UTC(2026, 6, 3) }))
    expect(during.status === 'done' && during.result?.busy).toEqual(['2026-07', '2026-08', '2026-09'])
    expect((await maintainReceipts(adapter, { now: Date.UTC(2026, 6, 3) })).created).toHaveLength(3)
  })
})
