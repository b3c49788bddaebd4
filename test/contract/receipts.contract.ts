import type { EffectRef, Receipts, RunRef } from '@cronce/store'
import { beforeEach, describe, expect, it } from 'vitest'

/** A chunk of the entities `a` and `b`, in the hands of its first holder. */
export interface HeldChunk {
  readonly run: RunRef
  readonly number: number
  readonly fence: number
  /** Another worker starts it: its fence. */
  takeOver(): Promise<number>
  /** The newest holder settles it: `b` is dead, everyone else is done. */
  settle(): Promise<void>
  /** After that, `b` is redriven: the chunk that carries it now. */
  redrive(): Promise<{ number: number; fence: number }>
}

/** One of the stores, behind what the suite needs of it. */
export interface ReceiptsGround {
  readonly receipts: Receipts
  /** A run of its own. Time is virtual: it stands still but for `pass`. */
  hold(): Promise<HeldChunk>
  pass(ms: number): void
}

const LEASE_MS = 10_000

/** R1, R3: what both stores of receipts promise alike. */
export function describeReceipts(name: string, open: () => ReceiptsGround): void {
  describe(`receipts in ${name}`, () => {
    let ground: ReceiptsGround
    let chunk: HeldChunk
    beforeEach(async () => {
      ground = open()
      chunk = await ground.hold()
    })

    const effect = (entity = 'a', what = 'charge'): EffectRef => ({
      ...{ ...chunk.run, chunk: chunk.number, entity, effect: what },
    })
    const take = (ref: EffectRef, token: string, fence = chunk.fence) =>
      ground.receipts.take(ref, { fence, token, leaseMs: LEASE_MS })
    const done = async (ref: EffectRef, token: string) => {
      expect((await take(ref, token)).status).toBe('taken')
      expect(await ground.receipts.write(ref, token)).toBe('written')
    }

    it('an effect is taken, written and from then on done', async () => {
      const ref = effect()
      const taken = await take(ref, 't1')
      expect(taken).toMatchObject({ status: 'taken' })
      expect(taken.untilAt - taken.now).toBe(LEASE_MS)
      expect(await ground.receipts.write(ref, 't1')).toBe('written')
      expect(await take(ref, 't2')).toMatchObject({ status: 'done' })
      ground.pass(LEASE_MS * 100)
      expect(await take(ref, 't3')).toMatchObject({ status: 'done' })
      expect(await ground.receipts.write(ref, 't1')).toBe('already')
    })

    it('an effect under way elsewhere is to be waited for until its lease ends', async () => {
      const ref = effect()
      const { untilAt } = await take(ref, 't1')
      expect(await take(ref, 't2')).toMatchObject({ status: 'leased', untilAt })
      ground.pass(LEASE_MS - 1)
      expect(await take(ref, 't2')).toMatchObject({ status: 'leased', untilAt })
    })

    it('of many that ask at the same instant, one takes it', async () => {
      const tokens = Array.from({ length: 8 }, (_, index) => `t${index}`)
      const first = await Promise.all(tokens.map((token) => take(effect(), token)))
      expect(first.filter(({ status }) => status === 'taken')).toHaveLength(1)
      expect(first.filter(({ status }) => status === 'leased')).toHaveLength(7)
    })

    it('a lease that ended (its holder was killed) is taken over by exactly one; the old holder writes nothing (C57)', async () => {
      const ref = effect()
      await take(ref, 'old')
      ground.pass(LEASE_MS)
      const takes = await Promise.all(['n1', 'n2', 'n3'].map((token) => take(ref, token)))
      expect(takes.map(({ status }) => status).toSorted()).toEqual(['leased', 'leased', 'taken'])
      expect(await ground.receipts.write(ref, 'old')).toBe('lost')
      expect(await ground.receipts.renew(ref, { token: 'old', leaseMs: LEASE_MS })).toBe('lost')
      expect(await ground.receipts.release(ref, 'old')).toBe('lost')
      const winner = ['n1', 'n2', 'n3'][takes.findIndex(({ status }) => status === 'taken')] ?? ''
      expect(await ground.receipts.write(ref, winner)).toBe('written')
    })

    it('a lease that ended and that nobody took is still good for the true effect', async () => {
      const ref = effect()
      await take(ref, 't1')
      ground.pass(LEASE_MS * 10)
      expect(await ground.receipts.write(ref, 't1')).toBe('written')
      expect(await take(ref, 't2')).toMatchObject({ status: 'done' })
    })

    it('a holder slower than its lease keeps it by renewing', async () => {
      const ref = effect()
      await take(ref, 't1')
      for (let round = 0; round < 3; round++) {
        ground.pass(LEASE_MS / 2)
        expect(await ground.receipts.renew(ref, { token: 't1', leaseMs: LEASE_MS })).toBe('written')
      }
      expect(await take(ref, 't2')).toMatchObject({ status: 'leased' })
    })

    it('an effect that surely did not happen is given back at once', async () => {
      const ref = effect()
      await take(ref, 't1')
      expect(await ground.receipts.release(ref, 't1')).toBe('written')
      expect(await take(ref, 't2')).toMatchObject({ status: 'taken' })
    })

    it('several effects of one entity, and one effect of several, have receipts of their own', async () => {
      const other = await ground.hold()
      await done(effect('a', 'charge'), 't1')
      for (const ref of [effect('a', 'mail'), effect('b', 'charge'), { ...effect('a', 'charge'), ...other.run }]) {
        expect(await take(ref, 't2')).toMatchObject({ status: 'taken' })
      }
    })

    it.each(['', ' ', '%00', '%2500', '\0', ':{}', "o'neill", 'ä'.repeat(250)])(
      'keys of any text do not meet: %j',
      async (key) => {
        await done(effect(`a${key}`), 't1')
        expect(await take(effect(`a${key}`), 't2')).toMatchObject({ status: 'done' })
        expect(await take(effect(`a${key}x`), 't2')).toMatchObject({ status: 'taken' })
      },
    )

    it('promise 7: an older holder takes nothing once a newer one is here, which sees what was written', async () => {
      const ref = effect()
      await done(ref, 't1')
      await take(effect('a', 'mail'), 't1')
      const newer = await chunk.takeOver()
      expect(await take(ref, 't2', newer)).toMatchObject({ status: 'done' })
      expect(await take(effect('b'), 't1', chunk.fence)).toMatchObject({ status: 'fenced' })
      // Its true effect is not disowned, though it is fenced off.
      expect(await ground.receipts.write(effect('a', 'mail'), 't1')).toBe('written')
      expect(await take(effect('a', 'mail'), 't2', newer)).toMatchObject({ status: 'done' })
    })

    it('a late owner that wakes after the chunk was settled takes and writes nothing', async () => {
      await done(effect('a'), 't1')
      await take(effect('a', 'mail'), 't1')
      const newer = await chunk.takeOver()
      await take(effect('b'), 't2', newer)
      await chunk.settle()
      expect(await take(effect('a'), 't1')).toMatchObject({ status: 'fenced' })
      expect(await take(effect('b'), 't1')).toMatchObject({ status: 'fenced' })
      expect(await take(effect('b'), 't2', newer)).toMatchObject({ status: 'fenced' })
      expect(await ground.receipts.write(effect('a', 'mail'), 't1')).toBe('already')
    })

    it('receipts of a dead entity outlive the settlement: its redrive repeats no effect that has one', async () => {
      await done(effect('b', 'charge'), 't1')
      await chunk.settle()
      const { number, fence } = await chunk.redrive()
      expect(await take({ ...effect('b', 'charge'), chunk: number }, 't2', fence)).toMatchObject({ status: 'done' })
      expect(await take({ ...effect('b', 'mail'), chunk: number }, 't2', fence)).toMatchObject({ status: 'taken' })
    })
  })
}
