import { pathToFileURL } from 'node:url'
import { type BurstResult, measureBurst } from './trigger/burst.ts'
import { measureIdle } from './trigger/idle.ts'
import { type LatenessResult, measureLateness } from './trigger/lateness.ts'
import { type LoserResult, measureLosers } from './trigger/losers.ts'

/** What the trigger costs and how late it is, each beside raw BullMQ in the same run where there is something to compare. */
export interface TriggerBench {
  readonly bench: 'trigger'
  readonly node: string
  /** Commands a minute that one idle replica with 100 hourly jobs sends, over a virtual hour. */
  readonly idleCommandsPerMinute: number
  /** 1,000 jobs due in the same second, against one addBulk of 1,000. */
  readonly burst: BurstResult
  /** Nominal instant to handler start, against BullMQ's own Job Scheduler, by the `hz` of Redis. */
  readonly lateness: readonly LatenessResult[]
  /** 100 replicas and one slot. */
  readonly losers: LoserResult
}

/** `--json` prints one object on the last line, else a few lines of text. `--seconds N`: how long lateness is measured, default 20. */
export async function main(args: readonly string[]): Promise<void> {
  const secondsAt = args.indexOf('--seconds')
  const seconds = secondsAt < 0 ? 20 : Number(args[secondsAt + 1])
  const result: TriggerBench = {
    bench: 'trigger',
    node: process.version,
    idleCommandsPerMinute: await measureIdle(),
    burst: await measureBurst(),
    lateness: [await measureLateness({ hz: 10, seconds }), await measureLateness({ hz: 100, seconds })],
    losers: await measureLosers(),
  }
  process.stdout.write(args.includes('--json') ? `${JSON.stringify(result)}\n` : text(result))
}

function text({ idleCommandsPerMinute, burst, lateness, losers }: TriggerBench): string {
  const rows = lateness.map(
    ({ hz, cronceMs, bullmqMs, ratioP50 }) =>
      `late, Redis hz ${hz}: p50 ${cronceMs.p50} ms, p99 ${cronceMs.p99} ms; BullMQ's scheduler p50 ${bullmqMs.p50} ms, p99 ${bullmqMs.p99} ms: ${ratioP50} x`,
  )
  return [
    `idle, 100 hourly jobs: ${idleCommandsPerMinute} commands a minute`,
    `1,000 jobs at once: on the queue in ${burst.cronceMs} ms; addBulk of 1,000: ${burst.addBulkMs} ms: ${burst.ratio} x`,
    ...rows,
    `100 replicas, one slot: losers sent at most ${losers.mostCommands} commands each, the sweep after it ${losers.sweepCommands}`,
    '',
  ].join('\n')
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main(process.argv.slice(2))
}
