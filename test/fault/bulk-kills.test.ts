import { type CrashPolicy, cron } from '@cronce/core'
import type { Pool } from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { describeNeeding, type PostgresServer, type RedisServer, waitUntil } from '../support/index.ts'
import { standOnReceipts } from '../support/receipts-ground.ts'
import { type Ground, openGround, repeated } from './ground.ts'
import { type JobSpec, jobOf } from './programs/job-spec.ts'
import type { WorkerConfig } from './programs/worker.ts'

const KEYS = Array.from({ length: 30 }, (_, index) => `e${String(index).padStart(2, '0')}`)
/** The chunk whose owner dies: that of the entity that it dies of. */
const CHUNK = KEYS.slice(10, 20)
const FATAL = 'e13'

describeNeeding(
  ['postgres', 'redis-server'],
  'promise 6, the owner of a call of eachChunk with Postgres receipts is killed',
  () => {
    let redis: RedisServer
    let postgres: PostgresServer
    let pool: Pool
    let ground: Ground

    // Nothing but the receipts keeps an effect from being there twice.
    standOnReceipts('what text not null, pid integer not null', (ready) => {
      ;({ redis, postgres, pool } = ready)
    })
    beforeEach(async () => {
      ground = await openGround(redis)
      await ground.setRows(KEYS)
    })
    afterEach(() => ground.close())

    const spec = (name: string, onCrash: CrashPolicy): JobSpec => ({
      ...{ name, onCrash, schedule: cron('0 3 1 1 *'), chunk: { size: 10, concurrency: 4 } },
      retry: { attempts: 3, backoff: { type: 'fixed', delay: 20, jitter: 0 } },
    })
    const happened = async () => {
      const { rows } = await pool.query<{ what: string; pid: number }>('select * from effect order by what')
      return rows
    }
    /** Two workers work on a run until it has ended; answers it, and which of them died. */
    const runWith = async (job: JobSpec, config: Partial<WorkerConfig>) => {
      const both = await Promise.all(
        [1, 2].map(() => ground.worker({ jobs: [job], postgres: postgres.url, ...config })),
      )
      const run = await ground.start(jobOf(job))
      const entry = await ground.ended(run, { timeoutMs: 40_000 })
      await waitUntil(async () => (await ground.queued()).length === 0, { message: 'nothing on the queue' })
      expect(await ground.casualties()).toHaveLength(1)
      const exits = await Promise.all(both.map(({ exited }) => Promise.race([exited, Promise.resolve(undefined)])))
      const [dead, ...others] = both.filter((_, index) => exits[index] !== undefined)
      if (dead === undefined) throw new Error('nobody died')
      expect(others).toEqual([])
      expect(await dead.exited).toEqual({ code: null, signal: 'SIGKILL' })
      return { run, entry, dead: dead.pid }
    }
    const once = { planned: 30, done: 30, dead: 0, abandoned: 0, skipped: 0 }

    it('between its effects and their commit: they are undone, and another does them, once each', async () => {
      const acts = { [FATAL]: { kind: 'die-before-commit', times: 1 } } as const
      const { entry, dead } = await runWith(spec('before', 'complete'), { acts })
      expect(entry).toMatchObject({ state: 'succeeded', entities: once })
      // One for each chunk that the dead one had in hand.
      expect(entry.crashes).toBeGreaterThan(0)
      const rows = await happened()
      expect(rows.map(({ what }) => what)).toEqual(KEYS)
      expect(rows.filter(({ pid, what }) => pid === dead && CHUNK.includes(what))).toEqual([])
    })

    it('between the commit and the end of the call: they stand, and nobody does them again', async () => {
      const acts = { [FATAL]: { kind: 'die-after-commit', times: 1 } } as const
      const { entry, dead } = await runWith(spec('after', 'complete'), { acts })
      expect(entry).toMatchObject({ state: 'succeeded', entities: once })
      // One for each chunk that the dead one had in hand.
      expect(entry.crashes).toBeGreaterThan(0)
      const rows = await happened()
      expect(rows.map(({ what }) => what)).toEqual(KEYS)
      expect(rows.filter(({ what }) => CHUNK.includes(what)).map(({ pid }) => pid)).toEqual(CHUNK.map(() => dead))
    })

    it('between the settlement of its chunk and the acknowledgement: the same', async () => {
      const points = [{ event: 'chunk.settled', where: { chunk: 1 } }] as const
      const { entry } = await runWith(spec('acked', 'complete'), { points })
      expect(entry).toMatchObject({ state: 'succeeded', entities: once })
      expect((await happened()).map(({ what }) => what)).toEqual(KEYS)
    })

    it.each([
      ['die-before-commit', [] as string[]],
      ['die-after-commit', CHUNK],
    ] as const)(
      '%s, of a job that must not repeat: what was begun is abandoned, and no effect is there twice',
      async (kind, theirs) => {
        const { entry } = await runWith(spec(`skip-${kind}`, 'skip'), { acts: { [FATAL]: { kind, times: 1 } } })
        const { done, abandoned } = entry.entities
        // The one that died may have had all three chunks in hand.
        const state = done > 0 ? 'partial' : 'abandoned'
        expect(entry).toMatchObject({ state, entities: { planned: 30, dead: 0, skipped: 0 } })
        // All of the chunk were begun, and those of a chunk that the same worker had in hand beside it.
        expect([done + abandoned, abandoned >= CHUNK.length]).toEqual([30, true])
        const all = (await happened()).map(({ what }) => what)
        expect(repeated(all)).toEqual([])
        expect(all.filter((what) => CHUNK.includes(what))).toEqual(theirs)
        expect(all.length).toBeGreaterThanOrEqual(done)
      },
    )
  },
)
