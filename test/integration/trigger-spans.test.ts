import { every, formatSlotId, formatSlotKey, type Random, seededRandom } from '@cronce/core'
import { auditService, planBackfill, runSlot, type ServiceAccess, showRun } from '@cronce/operations'
import { claimManual, findNeighbours, foldGaps, listDays, listGaps, mergeNeighbours, recordSlots } from '@cronce/store'
import { describe, expect, it } from 'vitest'
import { OPERATOR } from '../support/by-hand.ts'
import { type Fleet, NOON } from '../support/fleet.ts'
import { standOnGround } from '../support/operations-ground.ts'
import { endRun, startRun } from '../support/play-worker.ts'
import { audited, idAt, keyOf, MINUTE, minutely, SECOND, slotAt } from './protocol-ground.ts'

let fleet: Fleet
let access: ServiceAccess
standOnGround('spans', (ground) => {
  ;({ fleet, access } = ground)
})

const NEWEST_KEPT = 10
const outcome = async () => (await auditService(fleet.store, { fromAt: NOON, toAt: fleet.clock.now() })).outcome
const gaps = () => listGaps(fleet.store, 'job', { afterAt: 0, limit: 1_000 })

/** What a random ledger has of a minute: a state with its reason; folded into the sum of its day; or a gap as long as it says. */
type Fate =
  | { readonly kind: 'record'; readonly state: string; readonly reason: string; readonly fields?: object }
  | { readonly kind: 'folded' }
  | { readonly kind: 'gap'; readonly minutes: number; readonly reason: string }

const REASONS = ['overlap: 20260601T120000Z has not ended', 'expired: not started by its use-by']

function fateOf(random: Random, before: Fate | undefined): Fate {
  const dice = random()
  if (before !== undefined && before.kind !== 'folded' && dice < 0.6) return { ...before }
  const reason = REASONS[Math.floor(random() * 2)] ?? ''
  if (dice < 0.75) return { kind: 'record', state: random() < 0.8 ? 'skipped' : 'missed', reason }
  if (dice < 0.8) return { kind: 'gap', minutes: 1 + Math.floor(random() * 9), reason }
  if (dice < 0.85) return { kind: 'folded' }
  if (dice < 0.9) return { kind: 'record', state: 'skipped', reason, fields: { startedAt: 1 } }
  if (dice < 0.93) return { kind: 'record', state: 'skipped', reason, fields: { cause: 'backfill', why: 'lost day' } }
  return { kind: 'record', state: 'succeeded', reason: '' }
}

/** Why each minute did not run; and those whose records stay: they ran, or began to, or a person asked for them. */
interface Written {
  readonly dropped: Map<number, string>
  readonly own: number[]
}

/** Writes minutes (from, to] of a ledger, with the watermark at the end, as if they had gone by. */
async function writeLedger(random: Random, from: number, to: number): Promise<Written> {
  const dropped = new Map<number, string>()
  const own: number[] = []
  const pipeline = fleet.redis.pipeline()
  let fate: Fate | undefined
  for (let minute = from + 1; minute <= to; minute++) {
    fate = fateOf(random, fate)
    const at = slotAt(minute)
    if (fate.kind === 'folded') {
      pipeline.hincrby(keyOf(fleet.store, 'day:2026-06-01'), 'succeeded', 1)
      pipeline.zadd(keyOf(fleet.store, 'days'), 20260601, '2026-06-01')
    } else if (fate.kind === 'gap') {
      const last = Math.min(to, minute + fate.minutes - 1)
      const span = { from: at - 1, to: slotAt(last), count: last - minute + 1 }
      const line = JSON.stringify({ ...span, state: 'skipped', reason: fate.reason, at: 1, by: 'a' })
      pipeline.zadd(keyOf(fleet.store, 'gaps'), span.to, line)
      for (; minute < last; minute++) dropped.set(minute, `skipped ${fate.reason}`)
      dropped.set(last, `skipped ${fate.reason}`)
    } else {
      const { state, reason, fields = {} } = fate
      const record = { at, effective: at, state, reason, cause: 'on-time', ...fields }
      pipeline.hset(keyOf(fleet.store, `slot:${idAt(minute)}`), record)
      pipeline.rpush(keyOf(fleet.store, `events:${idAt(minute)}`), JSON.stringify({ at, event: state, reason }))
      pipeline.zadd(keyOf(fleet.store, 'slots'), at, idAt(minute))
      if (state !== 'succeeded') dropped.set(minute, `${state} ${reason}`)
      if (state === 'succeeded' || fate.fields !== undefined) own.push(minute)
    }
    if (random() < 0.02) {
      const hand = { token: `t${minute}`, leaseMs: 1, by: 'ann', release: 'r' }
      await claimManual(fleet.store, 'job', { ...hand, instant: formatSlotId(at + SECOND), at: at + SECOND })
    }
  }
  pipeline.hset(keyOf(fleet.store, 'job'), 'watermark', slotAt(to))
  await pipeline.exec()
  return { dropped, own }
}

/** Lets a sweep look at the job a minute later, without a slot that comes due meanwhile. */
async function look(minute: number): Promise<void> {
  fleet.clock.set(slotAt(minute) + 50 * SECOND)
  await fleet.sweep()
}

async function whyNot(minute: number): Promise<string> {
  const { run } = await showRun(fleet.store, formatSlotKey({ job: 'job', at: slotAt(minute) }))
  return `${run.state} ${run.reason ?? ''}`
}

/** Every record and gap of the job, oldest first, as what may stand in a gap with its neighbours. */
async function elements(): Promise<{ fromAt: number; toAt: number; alike: string; isGap: boolean }[]> {
  const records = (await fleet.slots('job')).map(({ id, at, state, reason, startedAt, cause }) => {
    const isDropped = (state === 'skipped' || state === 'missed') && startedAt === undefined && cause === 'on-time'
    return { fromAt: at - 1, toAt: at, alike: isDropped ? `${state} ${reason}` : `its own ${id}`, isGap: false }
  })
  const spans = (await gaps()).map(({ fromAt, toAt, state, reason }) => {
    return { fromAt, toAt, alike: `${state} ${reason}`, isGap: true }
  })
  return [...records, ...spans].toSorted((a, b) => a.toAt - b.toAt)
}

/** Neighbours of one reason with no slot between, the newest records aside. */
async function unmerged(): Promise<number> {
  const all = await elements()
  const newest = all.filter(({ isGap }) => !isGap).at(-NEWEST_KEPT - 1)?.toAt ?? 0
  return all.filter((each, index) => {
    const before = all[index - 1]
    if (before === undefined || each.toAt > newest || before.alike !== each.alike) return false
    return Math.floor((each.fromAt - NOON) / MINUTE) === Math.floor((before.toAt - NOON) / MINUTE)
  }).length
}

describe('equal neighbours that did not run are one gap (T12)', () => {
  it.each(Array.from({ length: 8 }, (_, index) => index + 1))(
    'loses nothing, doubles nothing, and says why of each slot: ledger %i',
    async (seed) => {
      const random = seededRandom(seed)
      await fleet.join('a', [minutely()])
      const first = await writeLedger(random, 0, 150)
      fleet.clock.set(slotAt(150))
      const before = await audited(fleet)
      expect(before).toEqual([150, 150, 0, 0, 0])
      const many = (await fleet.slots('job')).length
      await look(150)
      await look(150)
      expect(await audited(fleet)).toEqual(before)
      expect((await fleet.slots('job')).length).toBeLessThan(many)
      const second = await writeLedger(random, 150, 300)
      await look(300)
      expect(await audited(fleet)).toEqual([300, 300, 0, 0, 0])
      expect(await unmerged()).toBe(0)
      const dropped = new Map([...first.dropped, ...second.dropped])
      const inDetail = new Set((await fleet.slots('job')).map(({ id }) => id))
      for (const minute of [...first.own, ...second.own]) expect(inDetail).toContain(idAt(minute))
      for (const [minute, why] of dropped) expect([minute, await whyNot(minute)]).toEqual([minute, why])

      // A named slot splits the gap that holds it, and everything goes on adding up.
      const within = [...dropped.keys()].filter(() => random() < 0.1)
      for (const minute of within) {
        const slot = formatSlotKey({ job: 'job', at: slotAt(minute) })
        await runSlot(access, { job: 'job', slot, operator: OPERATOR }).catch((error: unknown) => {
          // What was started and cancelled is refused, as it was before.
          expect(error).toMatchObject({ code: 'CRONCE_SLOT_DONE' })
        })
      }
      expect(await audited(fleet)).toEqual([300, 300, 0, 0, 0])
      for (const [minute, why] of dropped)
        if (!within.includes(minute)) expect([minute, await whyNot(minute)]).toEqual([minute, why])
      await look(301)
      expect((await audited(fleet)).slice(2)).toEqual([0, 0, 0])
    },
  )

  it('leaves one gap of a long run, with the newest in detail, which grows and is seen by a backfill', async () => {
    const job = minutely({ schedule: every('10s'), overlap: 'skip' })
    await fleet.join('a', [job])
    await fleet.advance(10 * SECOND, 10 * SECOND)
    await startRun(fleet.store, 'job')
    await fleet.advance(20 * MINUTE, 10 * SECOND)
    const [first, ...more] = await gaps()
    expect(more).toEqual([])
    expect(first).toMatchObject({ fromAt: NOON + 20 * SECOND - 1, state: 'skipped', by: 'history' })
    expect(first?.reason).toBe('overlap: 20260601T120010Z has not ended')
    const slots = await fleet.slots('job')
    expect(slots[0]?.state).toBe('running')
    expect(slots.length).toBeGreaterThanOrEqual(NEWEST_KEPT)
    expect(slots.length).toBeLessThanOrEqual(NEWEST_KEPT + 15)
    expect((first?.count ?? 0) + slots.length).toBe(121)
    await fleet.advance(5 * MINUTE, 10 * SECOND)
    const [grown, ...others] = await gaps()
    expect(others).toEqual([])
    expect(grown?.fromAt).toBe(first?.fromAt)
    expect(grown?.count).toBeGreaterThan((first?.count ?? 0) + 20)
    const range = { job: 'job', fromAt: NOON + 20 * SECOND, toAt: NOON + 5 * MINUTE }
    expect((await planBackfill(fleet.store, range)).toRun.length).toBe(28)
    expect(await outcome()).toBe('adds-up')
  })

  it('merges what the next newer one took the place of, whichever that was', async () => {
    await fleet.join('a', [minutely({ schedule: every('10s'), overlap: 'queue' })])
    await fleet.advance(10 * SECOND, 10 * SECOND)
    await startRun(fleet.store, 'job')
    await fleet.advance(10 * MINUTE, 10 * SECOND)
    const [first, ...more] = await gaps()
    expect(more).toEqual([])
    expect(first).toMatchObject({ fromAt: NOON + 20 * SECOND - 1, reason: 'overlap: a newer one waits in its place' })
    expect(first?.count).toBeGreaterThan(30)
    // The one that waits holds the watermark: nothing above it is touched.
    expect((await fleet.slots('job')).at(-1)?.state).toBe('due')
    await endRun(fleet.store, 'job')
    await fleet.advance(20 * SECOND, 10 * SECOND)
    expect((await fleet.slots('job')).some(({ state }) => state === 'enqueued')).toBe(true)
    expect(await outcome()).toBe('adds-up')
  })

  it('does not write anew what it has taken, when the replica that claimed it comes back', async () => {
    await fleet.join('a', [minutely()])
    await writeLedger(() => 0.7, 0, 30)
    await look(30)
    expect((await gaps())[0]?.count).toBe(20)
    const place = { replica: 'a', markerMs: MINUTE, foreign: false, queue: 'default', version: 1 }
    await recordSlots(fleet.store, { job: 'job', added: [{ id: idAt(3) }], ...place, slots: [] })
    expect(await fleet.redis.exists(keyOf(fleet.store, `slot:${idAt(3)}`))).toBe(0)
    expect(await audited(fleet)).toEqual([30, 30, 0, 0, 0])
  })
})

describe('what is not merged, nor folded', () => {
  const gap = { fromAt: slotAt(3) - 1, toAt: slotAt(6), count: 4, state: 'skipped', reason: REASONS[1] ?? '' } as const
  const skipped = () => writeLedger(() => 0.7, 0, 30)

  it('is what stands above the watermark, which says that it was recorded', async () => {
    await fleet.join('a', [minutely()])
    await skipped()
    await fleet.redis.hset(keyOf(fleet.store, 'job'), 'watermark', slotAt(5))
    const query = { afterAt: 0, sinceAt: NOON, keep: 0 }
    const { chains } = await findNeighbours(fleet.store, 'job', query)
    expect(chains.map(({ parts }) => parts.length)).toEqual([5])
    expect(await mergeNeighbours(fleet.store, 'job', { generation: 1, gap })).toBe('moved')
    expect(await gaps()).toEqual([])
    await fleet.redis.hset(keyOf(fleet.store, 'job'), 'watermark', slotAt(30))
    expect(await mergeNeighbours(fleet.store, 'job', { generation: 1, gap })).toBe('merged')
    const days = [{ day: '2026-06-01', count: 4 }]
    await fleet.redis.hset(keyOf(fleet.store, 'job'), 'watermark', slotAt(5))
    expect(await foldGaps(fleet.store, 'job', [{ ...gap, days }])).toBe(0)
    await fleet.redis.hset(keyOf(fleet.store, 'job'), 'watermark', slotAt(30))
    expect(await foldGaps(fleet.store, 'job', [{ ...gap, count: 3, days }])).toBe(0)
    expect(await foldGaps(fleet.store, 'job', [{ ...gap, days }])).toBe(1)
    expect(await gaps()).toEqual([])
    const [day, ...others] = await listDays(fleet.store, 'job', { from: '2026-06-01', to: '2026-06-01' })
    expect([day?.slots, others]).toEqual([{ skipped: 4 }, []])
    fleet.clock.set(slotAt(30))
    expect(await audited(fleet)).toEqual([30, 30, 0, 0, 0])
  })

  it('is what changed since somebody looked: another state, another number, another generation', async () => {
    await fleet.join('a', [minutely()])
    await skipped()
    const merge = (generation: number, other: object) =>
      mergeNeighbours(fleet.store, 'job', { generation, gap: { ...gap, ...other } })
    for (const other of [{ count: 5 }, { state: 'missed' as const }, { reason: 'another' }])
      expect([other, await merge(1, other)]).toEqual([other, 'moved'])
    expect(await merge(2, {})).toBe('moved')
    await fleet.redis.hset(keyOf(fleet.store, `slot:${idAt(4)}`), 'state', 'claimed')
    expect(await merge(1, {})).toBe('moved')
    expect((await fleet.slots('job')).length).toBe(30)
  })
})
