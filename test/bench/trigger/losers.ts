import { cron, defineJob } from '@cronce/core'
import { createFleet } from '../../support/fleet.ts'
import { startRedis } from '../../support/index.ts'
import { countedRedis } from './counted-redis.ts'

export interface LoserResult {
  /** The most commands that one losing replica sent for the slot. */
  readonly mostCommands: number
  /** Commands of all replicas together in the sweep after it, beside their heartbeats. */
  readonly sweepCommands: number
}

const REPLICAS = 100

/** 100 replicas fire one slot; then each sweeps once. */
export async function measureLosers(): Promise<LoserResult> {
  const redis = await startRedis()
  const fleet = createFleet({ url: redis.url, service: 'losers' })
  const job = defineJob({ name: 'job', schedule: cron('* * * * *'), onCrash: 'complete', overlap: 'allow' })
  const replicas = []
  for (let index = 0; index < REPLICAS; index++) {
    const counted = countedRedis(redis.url)
    replicas.push({ counted, trigger: await fleet.join(`r${index}`, [job], { redis: counted.open }) })
  }
  fleet.clock.advance(60_000)
  for (const { counted } of replicas) counted.take()
  const sent: number[] = []
  for (const { counted, trigger } of replicas) {
    const { claimed } = await trigger.tick()
    if (claimed === 0) sent.push(counted.take())
    else counted.take()
  }
  fleet.clock.advance(15_000)
  let sweepCommands = 0
  for (const { counted, trigger } of replicas) {
    await trigger.sweep()
    sweepCommands += counted.take()
  }
  await fleet.close()
  await redis.stop()
  return { mostCommands: Math.max(...sent), sweepCommands }
}
