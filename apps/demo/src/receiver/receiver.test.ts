import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@cronce/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type EffectLog, openEffectLog } from './effect-log.ts'
import { planFaults } from './fault-plan.ts'
import { type Receiver, startReceiver } from './receiver.ts'

let folder: string
let log: EffectLog
let receiver: Receiver

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cronce-receiver-'))
  log = await openEffectLog(join(folder, 'effects.ndjson'))
  receiver = await startReceiver({ log, faults: new Map([['poor', { status: 402, calls: 2 }]]), clock: systemClock })
})
afterEach(async () => {
  await receiver.close()
  await log.close()
  await rm(folder, { recursive: true })
})

async function post(path: string, body: object, key?: string): Promise<number> {
  const headers = { 'content-type': 'application/json', ...(key === undefined ? {} : { 'idempotency-key': key }) }
  return (await fetch(receiver.url + path, { method: 'POST', headers, body: JSON.stringify(body) })).status
}

describe('the receiver', () => {
  it('does a thing once under a key, and says so to every other call', async () => {
    const body = { slot: 's', entity: 'a' }
    expect(await Promise.all([post('/effects', body, 'k'), post('/effects', body, 'k')])).toEqual(
      expect.arrayContaining([201, 200]),
    )
    expect(await post('/effects', { ...body, amount: 2 }, 'k')).toBe(422)
    expect(await post('/effects', body)).toBe(400)
    expect((await log.read()).map(({ kind, key }) => [kind, key])).toEqual([
      ['accepted', 'k'],
      ['repeat', 'k'],
      ['conflict', 'k'],
    ])
  })

  it('fails as planned, and accepts afterwards under the same key', async () => {
    const call = () => post('/effects', { slot: 's', entity: 'poor' }, 'p')
    expect([await call(), await call(), await call(), await call()]).toEqual([402, 402, 201, 200])
    expect(receiver.counts).toMatchObject({ refused: 2, accepted: 1, repeat: 1 })
  })

  it('takes every start, however often it comes', async () => {
    expect([await post('/starts', { slot: 's' }), await post('/starts', { slot: 's' })]).toEqual([201, 201])
    expect(await log.read()).toHaveLength(2)
  })
})

describe('planFaults', () => {
  it('declines three for all of their attempts and stumbles once over twenty others', () => {
    const plan = [
      ...planFaults(
        Array.from({ length: 20_000 }, (_, index) => `p${index}`),
        5,
      ).values(),
    ]
    expect(plan.filter(({ status, calls }) => status === 402 && calls === 5)).toHaveLength(3)
    expect(plan.filter(({ status, calls }) => status === 503 && calls === 1)).toHaveLength(20)
  })
})
