import { setTimeout as delay } from 'node:timers/promises'
import type { CronceSide } from '../fanout/cronce-side.ts'
import { redisUse, rssBytes } from '../fanout/machine-use.ts'

/** Memory at one moment of a run. */
export interface MemorySample {
  readonly afterMs: number
  readonly redisBytes: number
  /** Of the larger worker. */
  readonly rssBytes: number
}

/** Looks at memory while something runs. */
export async function watchMemory(
  side: CronceSide,
  running: Promise<unknown>,
  options: { readonly everyMs: number; readonly onSample: (sample: MemorySample) => void },
): Promise<MemorySample[]> {
  const samples: MemorySample[] = []
  const startedAt = performance.now()
  const over = running.then(() => 'over' as const)
  for (let next: 'over' | 'sample' = 'sample'; next === 'sample'; ) {
    const { usedBytes } = await redisUse(side.redis)
    const sample = {
      afterMs: Math.round(performance.now() - startedAt),
      redisBytes: usedBytes,
      rssBytes: Math.max(...side.workerPids.map((pid) => rssBytes(pid).now)),
    }
    samples.push(sample)
    options.onSample(sample)
    next = await Promise.race([over, delay(options.everyMs, 'sample' as const)])
  }
  return samples
}

/** How much more a value is in the last third of the samples than in the middle one, as a share: 0 is flat. */
export function growth(samples: readonly MemorySample[], of: (sample: MemorySample) => number): number {
  const third = Math.floor(samples.length / 3)
  const mean = (part: readonly MemorySample[]) => part.reduce((sum, sample) => sum + of(sample), 0) / part.length
  if (third === 0) return 0
  return Math.round((mean(samples.slice(-third)) / mean(samples.slice(third, 2 * third)) - 1) * 1000) / 1000
}
