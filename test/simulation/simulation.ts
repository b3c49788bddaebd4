import { type JobDefinition, type Random, seededRandom } from '@cronce/core'
import { type Audit, auditService } from '@cronce/operations'
import { connect, createStore, type Store, serviceKey } from '@cronce/store'
import type { TriggerOptions } from '@cronce/trigger'
import { tellBreaches } from './breach-report.ts'
import { type Chaos, type ChaosRates, startChaos } from './chaos.ts'
import { type Conduct, createCrew } from './crew.ts'
import { createSimulatedFleet } from './fleet.ts'
import { type Breach, checkRuns } from './invariants.ts'
import type { JobMix } from './job-mix.ts'
import { createVirtualTime, TIME_OF_ARRIVAL } from './virtual-time.ts'
import { openWire, type WireOptions } from './wire.ts'

/** What one simulation is made of. */
export interface Scenario {
  readonly seed: number
  readonly replicas: number
  readonly jobs: readonly JobDefinition[]
  readonly queues: readonly string[]
  /** Makes the images of deploys; undefined: nothing is edited. */
  readonly mix?: JobMix
  /** The replicas start then; what is audited are the slots in [from, to). */
  readonly startAt: number
  readonly fromAt: number
  readonly toAt: number
  /** How long the healed system has to come to rest, ms. */
  readonly settleMs: number
  readonly rates: ChaosRates
  readonly conduct: Conduct
  readonly timing: Pick<TriggerOptions, 'claimLease' | 'sweepEvery' | 'readdAfter' | 'heartbeatEvery'>
  readonly skewMs: number
  /** Chance that a process that could go on waits for the others. */
  readonly waits: number
  /** How much time passes, at most, while commands are under way, ms. */
  readonly driftMs: number
  /** How often the ledger is audited on the way, ms. */
  readonly checkEveryMs: number
  /** How many slots there are, counted by somebody else. */
  readonly owes?: number
}

export interface SimulationOptions {
  readonly redisUrl: string
  readonly mutate?: WireOptions['mutate']
  readonly onProgress?: (at: number, kills: number) => void
}

export interface SimulationResult {
  readonly seed: number
  readonly audit: Audit
  readonly kills: number
  readonly ended: number
  readonly commands: number
  readonly breaches: readonly Breach[]
  /** What the chaos did, with virtual instants. */
  readonly story: readonly string[]
  /** What to print where something broke: the story, and the history of the slots that broke; else empty. */
  readonly report: readonly string[]
}

/** More turns than this in a virtual second: something goes round and round. */
const MOST_TURNS = 500

/** Runs one simulation: the real trigger, scripts and Redis, on a virtual clock, from a seed. */
export async function simulate(scenario: Scenario, options: SimulationOptions): Promise<SimulationResult> {
  const { seed, startAt, fromAt, toAt, settleMs, replicas, jobs, queues, conduct, timing } = scenario
  // Another run of the same seed on the same Redis must not meet this one.
  const service = `simulation-${seed}-${process.pid}`
  const time = createVirtualTime(startAt)
  const chance = (salt: number) => seededRandom(Math.imul(seed, 0x9e3779b1) + salt)
  const redis = connect(options.redisUrl, 'consumer')
  const store = createStore({ redis, service, virtualTime: () => time.now })
  const wire = await openWire({
    url: options.redisUrl,
    random: chance(1),
    now: () => time.now,
    waits: scenario.waits,
    onStep: driftOf(scenario, chance(2), (byMs) => time.drift(byMs)),
    ...(options.mutate === undefined ? {} : { mutate: options.mutate }),
  })
  const story: string[] = []
  const tell = (what: string) => story.push(`${new Date(time.now).toISOString()} ${what}`)
  const crewLine = wire.open('crew')
  const operatorLine = wire.open('operator')
  const operators = createStore({ redis: operatorLine.client, service, virtualTime: () => TIME_OF_ARRIVAL })
  const crew = createCrew({ service, queues, line: crewLine, time, random: chance(3), conduct })
  const random = chance(4)
  const fleet = createSimulatedFleet({
    ...{ wire, time, random, service, timing },
    skewMs: () => (random() - 0.5) * 2 * scenario.skewMs,
    restartMs: () => 1_000 + random() ** 2 * 60_000,
  })
  const image = { name: 'r1', jobs }
  for (let count = 0; count < replicas; count++) fleet.join(image)
  const chaosOptions = {
    random: chance(5),
    time,
    fleet,
    size: replicas,
    untilAt: toAt,
    rates: scenario.rates,
    store: operators,
    tell,
  }
  const breaches: Breach[] = []
  let chaos: Chaos | undefined
  time.at(startAt + 30_000, () => {
    chaos = startChaos({ ...chaosOptions, mix: scenario.mix, image })
  })

  async function runUntil(untilAt: number): Promise<void> {
    let turns = { second: 0, count: 0 }
    let checkedAt = time.now
    for (;;) {
      await wire.drain()
      if (wire.takeQueueNews()) {
        const pumped = crew.pump()
        await wire.drain()
        await pumped
        continue
      }
      if (time.now >= untilAt) return
      time.advanceTo(Math.min(time.nextAt, untilAt))
      const second = Math.floor(time.now / 1_000)
      turns = second === turns.second ? { second, count: turns.count + 1 } : { second, count: 1 }
      if (turns.count > MOST_TURNS)
        throw new Error(`seed ${seed}: goes round and round at ${new Date(time.now).toISOString()}`)
      if (time.now - checkedAt >= scenario.checkEveryMs) {
        checkedAt = time.now
        options.onProgress?.(time.now, fleet.kills)
        await checkOnTheWay()
      }
    }
  }

  /** T1: at every moment, the watermark has passed nothing that is not recorded. */
  async function checkOnTheWay(): Promise<void> {
    if (breaches.length > 0) return
    const audit = await auditService(store, { fromAt: startAt, toAt: time.now + 1, graceMs: 1e12 })
    if (audit.outcome === 'does-not-add-up') {
      breaches.push(
        ...audit.slots.map((slot) => ({ ...slot, at: time.now, rule: 'the watermark passes nothing unrecorded' })),
      )
    }
  }

  try {
    await runUntil(toAt)
    tell('the end of what is audited')
    chaos?.heal()
    await runUntil(toAt + settleMs)
    const audit = await auditService(store, { fromAt, toAt })
    breaches.push(...audit.slots.map((slot) => ({ ...slot, at: time.now, rule: 'the audit adds up' })))
    const { owes = audit.expected } = scenario
    if (owes !== audit.expected) {
      const reason = `${owes} slots are owed, the audit expects ${audit.expected}`
      breaches.push({
        job: '',
        slot: undefined,
        at: time.now,
        problem: 'missing',
        count: owes - audit.expected,
        reason,
        rule: 'the audit adds up',
      })
    }
    for (const slot of crew.startedAgain) {
      const job = slot.slice(0, slot.indexOf('@', 1))
      breaches.push({
        job,
        slot,
        at: time.now,
        problem: 'double',
        count: 1,
        reason: 'started again after its end',
        rule: 'run once',
      })
    }
    if (scenario.checkEveryMs < settleMs) breaches.push(...(await checkRuns(store, { fromAt, toAt, now: time.now })))
    const report = await tellBreaches(store, { seed, story, breaches })
    return { seed, audit, kills: fleet.kills, ended: crew.ended, commands: wire.sent, breaches, story, report }
  } finally {
    for (const replica of fleet.replicas) fleet.retire(replica, { afterCommands: 0 })
    crewLine.close()
    operatorLine.close()
    wire.close()
    await removeKeys(store)
    redis.disconnect()
  }
}

function driftOf({ driftMs }: Scenario, random: Random, drift: (byMs: number) => void): () => void {
  if (driftMs <= 0) return () => undefined
  return () => {
    const luck = random()
    if (luck < 0.02) drift(Math.floor(random() * driftMs))
  }
}

/** Removes the keys of a simulation; a Redis that was given is never flushed. */
async function removeKeys({ redis, service }: Store): Promise<void> {
  if (!('scan' in redis)) return
  const pattern = `${serviceKey(service).slice(0, -1)}*`
  let cursor = '0'
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', pattern, 'COUNT', 1_000)
    cursor = next
    if (keys.length > 0) await redis.unlink(...keys)
  } while (cursor !== '0')
}
