import { type Clock, CronceError, isCronceError, type SlotKey, slotIdOf } from '@cronce/core'
import { packageReport } from '@cronce/jobs'
import { packageSource, repeatedPackages } from '@cronce/jobs/sources'
import { closeAccess, openAccess, runNow, type ServiceAccess } from '@cronce/operations'
import {
  addressOf,
  COMMAND_TIMEOUT_MS,
  checkRedis,
  connect,
  type LedgerEntry,
  type RedisClient,
  readSlot,
} from '@cronce/store'
import type { DemoConfig } from './config.ts'
import { createFleet, type Fleet } from './processes/fleet.ts'
import { type EffectLog, openEffectLog } from './receiver/effect-log.ts'
import { planFaults } from './receiver/fault-plan.ts'
import { type Receiver, startReceiver } from './receiver/receiver.ts'
import { effectFile, STATE_FOLDER } from './state-folder.ts'
import { createWatch, type Watch } from './watch/watch.ts'

/** The namespace of the demo's jobs: the default of every app and of the command line. */
export const SERVICE = 'cronce'

/** Short, so that what a killed process held goes on within seconds. */
const TIMING = {
  CRONCE_CLAIM_LEASE: '3s',
  CRONCE_SWEEP_EVERY: '1s',
  CRONCE_LOCK: '2s',
  CRONCE_STALLED_EVERY: '1s',
  CRONCE_RECEIPT_LEASE: '2s',
  // Kills come by chance here: an entity that was twice under way at one is no worse than others.
  CRONCE_CRASH_LIMIT: '10',
  CRONCE_SHUTDOWN_TIMEOUT: '3s',
}

/** After a kill the entities of its chunks run one at a time; more chunks at once keep the processors busy meanwhile. */
const LONG_QUEUES = 'default:5,reports:8'

const STOP_WITHIN_MS = 5_000

export interface SystemOptions {
  readonly config: DemoConfig
  readonly replicas: number
  readonly workers: number
  /** How many packages the report is over. Default: the real ones. */
  readonly entities: number | undefined
  readonly clock: Clock
  /** A process ended without having been told to. */
  readonly onDeath: (id: string, lastLines: readonly string[]) => void
}

/** Everything that runs on one machine: receiver, replicas, workers, and what is known of them. */
export interface DemoSystem {
  readonly fleet: Fleet
  readonly watch: Watch
  readonly receiver: Receiver
  readonly effects: EffectLog
  readonly access: ServiceAccess
  /** Runs the report by hand. */
  startReport(): Promise<SlotKey>
  readRun(job: string, slot: SlotKey): Promise<LedgerEntry | undefined>
  /** Stops every process in order. Nothing calls the receiver afterwards. */
  stopProcesses(): Promise<void>
  /** Lets go of the rest. */
  close(): Promise<void>
}

/**
 * Starts everything and waits until all of it is ready.
 *
 * @throws CronceError CRONCE_REDIS_UNREACHABLE, CRONCE_REDIS_UNSAFE; Error with the last lines of a process that ended
 */
export async function startSystem(options: SystemOptions): Promise<DemoSystem> {
  const { config, clock, replicas, workers, onDeath } = options
  const real = await packageSource.all()
  const { entities = real.length } = options
  const packages = await repeatedPackages(packageSource, entities).all()
  const faults = planFaults(
    packages.map(({ name }) => name),
    // A kill takes a try along that the receiver has counted and the job has not: beside kills, it declines until it relents.
    options.entities === undefined ? packageReport.retry.attempts : Number.POSITIVE_INFINITY,
  )
  const effects = await openEffectLog(await effectFile(STATE_FOLDER, process.pid))
  const receiver = await startReceiver({ log: effects, faults, clock })
  const watch = createWatch()
  const redis = connect(config.REDIS_URL, 'producer')
  redis.on('error', () => undefined)
  const access = openAccess({ redis, service: SERVICE })
  const fleet = createFleet({
    env: {
      ...config.inherited,
      ...TIMING,
      REDIS_URL: config.REDIS_URL,
      CRONCE_SERVICE: SERVICE,
      CRONCE_RECEIVER_URL: receiver.url,
      CRONCE_REPORT_PACKAGES: String(entities),
      POSTGRES_URL: config.POSTGRES_URL ?? '',
      CRONCE_QUEUES: options.entities === undefined ? '' : LONG_QUEUES,
      HOST: '',
      PORT: '',
      // A lost claim is a debug line, and attempts are counted.
      LOG_LEVEL: 'debug',
    },
    onLine: (id, line) => watch.note(id, line),
    onDeath: (id, { lastLines }) => onDeath(id, lastLines),
  })
  const system: DemoSystem = {
    ...{ fleet, watch, receiver, effects, access },
    async startReport() {
      const operator = { name: 'npm start' }
      return (await runNow(access, { job: packageReport.name, operator, why: 'something to see' })).slot
    },
    readRun: (job, slot) => readSlot(access.store, job, slotIdOf(slot)),
    stopProcesses: () => fleet.stop(STOP_WITHIN_MS),
    async close() {
      await fleet.killAll()
      await receiver.close()
      await effects.close()
      await closeAccess(access)
      redis.disconnect()
    },
  }
  try {
    await requireRedis(redis)
    const started = [
      ...Array.from({ length: replicas }, () => fleet.start('replica')),
      ...Array.from({ length: workers }, () => fleet.start('worker')),
    ]
    await Promise.all(started.map((process) => fleet.ready(process)))
    return system
  } catch (error) {
    await system.close()
    throw error
  }
}

/** Better one sentence now than the last words of seven processes. */
async function requireRedis(redis: RedisClient): Promise<void> {
  try {
    await checkRedis(redis)
  } catch (error) {
    if (isCronceError(error)) throw error
    const fields = { address: addressOf(redis), timeoutMs: COMMAND_TIMEOUT_MS, reason: String(error) }
    throw new CronceError('CRONCE_REDIS_UNREACHABLE', fields, { cause: error })
  }
}
