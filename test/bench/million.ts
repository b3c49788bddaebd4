import { loadavg } from 'node:os'
import { pathToFileURL } from 'node:url'
import { jobKey } from '@cronce/store'
import { noopJob, SERVICE } from './fanout/accounts.ts'
import { openCronceSide } from './fanout/cronce-side.ts'
import { redisUse } from './fanout/machine-use.ts'
import { type CommandTimes, readCommandTimes } from './million/command-times.ts'
import { growth, watchMemory } from './million/memory-watch.ts'

const DEFAULT_ENTITIES = 1_000_000
const MILLION = 1_000_000
const MB = 1024 * 1024

/** What must hold for every million entities of a run. */
const MOST_RUNNING_BYTES = 100 * MB
const MOST_FOLDED_BYTES = 12 * MB
const MOST_P99_US = 100_000

/** Memory is flat if the last third of a run needs no more than this share above the middle third, the fold not counted. */
const MOST_GROWTH = 0.1

const SAMPLE_EVERY_MS = 500

/** One run of a million entities: what it needs of memory, and how long Redis was ever busy with one command. */
export interface MillionBench {
  readonly bench: 'million'
  readonly node: string
  readonly load: number
  readonly entities: number
  readonly perSecond: number
  /** Of Redis, beyond what it needed before the run: everything that the run keeps there while it is under way. */
  readonly peakRunningBytes: number
  /** The compact set of the run's members, which is what remains of its receipts. */
  readonly foldedBytes: number
  readonly redisGrowth: number
  readonly rssGrowth: number
  readonly peakRssBytes: number
  readonly commands: CommandTimes
  /** What does not hold; empty where all does. */
  readonly faults: readonly string[]
}

/** `--json` prints one object on the last line, after a sample of memory every half second. `--entities N`: default 1,000,000. */
export async function main(args: readonly string[]): Promise<void> {
  const entitiesAt = args.indexOf('--entities')
  const result = await measureMillion(entitiesAt < 0 ? DEFAULT_ENTITIES : Number(args[entitiesAt + 1]))
  process.stdout.write(args.includes('--json') ? `${JSON.stringify(result)}\n` : text(result))
  if (result.faults.length > 0) process.exitCode = 1
}

async function measureMillion(entities: number): Promise<MillionBench> {
  const load = loadavg()[0] ?? 0
  const side = await openCronceSide()
  // Code is compiled and buffers have their size after it.
  await side.run(Math.min(200_000, entities))
  const before = await redisUse(side.redis)
  await side.redis.call('CONFIG', 'RESETSTAT')
  const running = side.run(entities)
  const samples = await watchMemory(side, running, {
    everyMs: SAMPLE_EVERY_MS,
    onSample: ({ afterMs, redisBytes, rssBytes }) =>
      process.stdout.write(`${(afterMs / 1000).toFixed(1)} s   Redis ${mb(redisBytes)}   worker ${mb(rssBytes)}\n`),
  })
  const { run, tookMs } = await running
  const commands = await readCommandTimes(side.redis)
  const members = `${jobKey(SERVICE, noopJob.name)}:members:${run.id}`
  const foldedBytes = Number(await side.redis.call('MEMORY', 'USAGE', members, 'SAMPLES', '0'))
  const { rssBytes } = await side.peak()
  await side.close()
  const lastMs = samples.at(-1)?.afterMs ?? 1
  const facts = {
    peakRunningBytes: Math.max(...samples.map(({ redisBytes }) => redisBytes)) - before.usedBytes,
    foldedBytes,
    // The fold grows with the entities; the rest must not.
    redisGrowth: growth(samples, ({ redisBytes, afterMs }) => redisBytes - (foldedBytes * afterMs) / lastMs),
    rssGrowth: growth(samples, (sample) => sample.rssBytes),
    commands,
  }
  return {
    ...{ bench: 'million', node: process.version, load, entities },
    perSecond: Math.round((entities / tookMs) * 1000),
    ...facts,
    peakRssBytes: rssBytes,
    faults: faultsOf(facts, Math.max(1, entities / MILLION)),
  }
}

type Facts = Pick<MillionBench, 'peakRunningBytes' | 'foldedBytes' | 'redisGrowth' | 'rssGrowth' | 'commands'>

function faultsOf(facts: Facts, millions: number): string[] {
  const { peakRunningBytes, foldedBytes, redisGrowth, rssGrowth, commands } = facts
  const faults = [
    peakRunningBytes > MOST_RUNNING_BYTES * millions && `the run needed ${mb(peakRunningBytes)} of Redis`,
    foldedBytes > MOST_FOLDED_BYTES * millions && `folded it needs ${mb(foldedBytes)} of Redis`,
    redisGrowth > MOST_GROWTH && `Redis grew by ${percent(redisGrowth)} from the middle to the last third of the run`,
    rssGrowth > MOST_GROWTH && `the workers grew by ${percent(rssGrowth)} from the middle to the last third of the run`,
    commands.p99Us >= MOST_P99_US && `p99 of Redis's commands is ${commands.p99Us} us`,
  ]
  return faults.filter((fault) => fault !== false)
}

function mb(bytes: number): string {
  return `${(bytes / MB).toFixed(1)} MB`
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}

function text(result: MillionBench): string {
  const { commands } = result
  return [
    `${result.entities.toLocaleString('en-US')} entities, ${result.perSecond.toLocaleString('en-US')} a second, load ${result.load.toFixed(1)} before it`,
    `Redis     ${mb(result.peakRunningBytes)} at most for the run while it ran, ${mb(result.foldedBytes)} once folded; growth beside the fold ${percent(result.redisGrowth)}`,
    `workers   ${mb(result.peakRssBytes)} at most; growth ${percent(result.rssGrowth)}`,
    `commands  ${commands.calls.toLocaleString('en-US')}: p50 ${commands.p50Us} us, p99 ${commands.p99Us} us, most ${commands.mostUs} us`,
    ...result.faults.map((fault) => `FAULT: ${fault}`),
    '',
  ].join('\n')
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main(process.argv.slice(2))
}
