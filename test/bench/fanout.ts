import { loadavg } from 'node:os'
import { pathToFileURL } from 'node:url'
import { startPostgres } from '../support/index.ts'
import { postgresBinaries } from '../support/postgres-binaries.ts'
import { bulkJob, onceJob, transactionJob } from './fanout/accounts.ts'
import { type CronceSideOptions, openCronceSide } from './fanout/cronce-side.ts'
import { openRawSide } from './fanout/raw-side.ts'
import type { Round, Side } from './fanout/side.ts'
import { median } from './trigger/median.ts'

const ROUNDS = 3
const DEFAULT_ENTITIES = 200_000

/**
 * Before the rounds that count, each side works for as long as the other: code is compiled and connections are open then. By entities
 * it would be ten times as long for one as for the other.
 */
const WARM_UP_MS = 10_000
const WARM_UP_ENTITIES = 50_000

/** Of the sides that write for every entity: a tenth of the entities tells as much. */
const SLOW_SHARE = 0.1

/** The fan-out of one run, beside raw BullMQ with one job per entity. Rates in entities a second, the median of three rounds in turns. */
export interface FanoutBench {
  readonly bench: 'fanout'
  readonly node: string
  readonly entities: number
  /** Load of the machine at the start: above 2 on two cores, only the ratios say something. */
  readonly load: number
  /** Medians of the ratios to raw BullMQ, pair by pair. */
  readonly ratio: { readonly redis: number; readonly postgres: number | null }
  readonly raw: number
  readonly cronce: number
  /** `ctx.once` for each entity: a lease and a receipt. */
  readonly cronceOnce: number
  /** Receipts in Postgres, one transaction per chunk (`eachChunk`); null where there is no Postgres. */
  readonly cronceBulk: number | null
  /** Receipts in Postgres, one transaction per entity. */
  readonly perEntityTx: number | null
  /** CPU time of all processes of a side for one entity, microseconds. */
  readonly cpuUsPerEntity: { readonly raw: number; readonly cronce: number }
  /** The most memory of Cronce's Redis, and of its larger worker. */
  readonly peakRedisBytes: number
  readonly peakRssBytes: number
  readonly rawPeakRedisBytes: number
  readonly rawPeakRssBytes: number
}

/** `--json` prints one object on the last line, else a few lines of text. `--entities N`: per round and side, default 200,000. */
export async function main(args: readonly string[]): Promise<void> {
  const entitiesAt = args.indexOf('--entities')
  const entities = entitiesAt < 0 ? DEFAULT_ENTITIES : Number(args[entitiesAt + 1])
  const result = await measureFanout(entities)
  process.stdout.write(args.includes('--json') ? `${JSON.stringify(result)}\n` : text(result))
}

async function measureFanout(entities: number): Promise<FanoutBench> {
  const load = loadavg()[0] ?? 0
  const postgres = postgresBinaries() === undefined ? undefined : await startPostgres()
  const [raw, cronce] = [await openRawSide(), await openCronceSide()]
  const bulk = postgres && (await openCronceSide({ job: bulkJob, postgresUrl: postgres.url }))
  const turns = await inTurns([raw, cronce, ...(bulk === undefined ? [] : [bulk])], entities)
  const [rawPeak, croncePeak] = [await raw.peak(), await cronce.peak()]
  await Promise.all([raw.close(), cronce.close(), bulk?.close()])
  const slow = async (options: CronceSideOptions) => {
    const side = await openCronceSide(options)
    const rounds = await inTurns([side], Math.round(entities * SLOW_SHARE))
    await side.close()
    return medianRate(rounds.map(([round]) => round as Round))
  }
  const cronceOnce = await slow({ job: onceJob })
  const perEntityTx = postgres && (await slow({ job: transactionJob, postgresUrl: postgres.url }))
  await postgres?.stop()
  const of = (index: number) => turns.map((rounds) => rounds[index] as Round)
  const ratioOf = (index: number) =>
    tenth(median(turns.map((rounds) => rateOf(rounds[index] as Round) / rateOf(rounds[0] as Round))))
  return {
    bench: 'fanout',
    node: process.version,
    entities,
    load,
    ratio: { redis: ratioOf(1), postgres: bulk === undefined ? null : ratioOf(2) },
    raw: medianRate(of(0)),
    cronce: medianRate(of(1)),
    cronceOnce,
    cronceBulk: bulk === undefined ? null : medianRate(of(2)),
    perEntityTx: perEntityTx ?? null,
    cpuUsPerEntity: { raw: cpuUs(of(0)), cronce: cpuUs(of(1)) },
    peakRedisBytes: croncePeak.redisBytes,
    peakRssBytes: croncePeak.rssBytes,
    rawPeakRedisBytes: rawPeak.redisBytes,
    rawPeakRssBytes: rawPeak.rssBytes,
  }
}

/** The sides take turns, so that a busy moment of the machine strikes both. */
async function inTurns(sides: readonly Side[], entities: number): Promise<Round[][]> {
  for (const side of sides) {
    for (let tookMs = 0; tookMs < WARM_UP_MS; ) tookMs += (await side.run(Math.min(WARM_UP_ENTITIES, entities))).tookMs
  }
  const turns: Round[][] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const turn: Round[] = []
    for (const side of sides) turn.push(await side.run(entities))
    turns.push(turn)
  }
  return turns
}

function rateOf({ entities, tookMs }: Round): number {
  return (entities / tookMs) * 1000
}

function medianRate(rounds: readonly Round[]): number {
  return Math.round(median(rounds.map(rateOf)))
}

function cpuUs(rounds: readonly Round[]): number {
  return tenth(median(rounds.map(({ cpuMs, entities }) => (cpuMs * 1000) / entities)))
}

function tenth(value: number): number {
  return Math.round(value * 10) / 10
}

function text(result: FanoutBench): string {
  const rate = (value: number | null) =>
    value === null ? 'not measured' : `${value.toLocaleString('en-US')} entities/s`
  const mb = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MB`
  const { ratio, cpuUsPerEntity: cpu } = result
  return [
    `${result.entities.toLocaleString('en-US')} entities a side, no work, load ${result.load.toFixed(1)} before it`,
    `raw BullMQ, one job each   ${rate(result.raw)}   ${cpu.raw} us of CPU each`,
    `Cronce, 100 a chunk        ${rate(result.cronce)}   ${cpu.cronce} us of CPU each   ${ratio.redis} x`,
    `... ctx.once for each      ${rate(result.cronceOnce)}`,
    `Postgres, by chunk         ${rate(result.cronceBulk)}${ratio.postgres === null ? '' : `   ${ratio.postgres} x`}`,
    `Postgres, by entity        ${rate(result.perEntityTx)}`,
    `memory   Redis ${mb(result.peakRedisBytes)} (raw ${mb(result.rawPeakRedisBytes)}), a worker ${mb(result.peakRssBytes)} (raw ${mb(result.rawPeakRssBytes)})`,
    '',
  ].join('\n')
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main(process.argv.slice(2))
}
