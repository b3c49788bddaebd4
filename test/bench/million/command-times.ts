import type { RedisClient } from '@cronce/store'

/** How long Redis was busy with single commands, in microseconds; bounds of its own histogram, so rather more than less. */
export interface CommandTimes {
  readonly calls: number
  readonly p50Us: number
  readonly p99Us: number
  readonly mostUs: number
}

/** Reads the histograms of all commands since they were reset (Redis 7). */
export async function readCommandTimes(redis: RedisClient): Promise<CommandTimes> {
  const answer = await redis.call('LATENCY', 'HISTOGRAM')
  const buckets = new Map<number, number>()
  for (const [, facts] of pairs(answer)) {
    const histogram = pairs(facts).find(([name]) => name === 'histogram_usec')?.[1]
    let before = 0
    // Each bucket counts those before it as well.
    for (const [bound, count] of pairs(histogram)) {
      buckets.set(Number(bound), (buckets.get(Number(bound)) ?? 0) + Number(count) - before)
      before = Number(count)
    }
  }
  const sorted = [...buckets].toSorted(([one], [other]) => one - other)
  const calls = sorted.reduce((sum, [, count]) => sum + count, 0)
  const quantile = (share: number) => {
    let seen = 0
    return sorted.find(([, count]) => (seen += count) >= calls * share)?.[0] ?? 0
  }
  return { calls, p50Us: quantile(0.5), p99Us: quantile(0.99), mostUs: sorted.at(-1)?.[0] ?? 0 }
}

/** What RESP2 answers as a flat list, and RESP3 as a map. */
function pairs(answer: unknown): [unknown, unknown][] {
  if (answer instanceof Map) return [...(answer as Map<unknown, unknown>)]
  if (Array.isArray(answer)) {
    if (answer.every((entry) => Array.isArray(entry) && entry.length === 2)) return answer as [unknown, unknown][]
    return Array.from({ length: Math.floor(answer.length / 2) }, (_, index) => [
      answer[index * 2],
      answer[index * 2 + 1],
    ])
  }
  return typeof answer === 'object' && answer !== null ? Object.entries(answer) : []
}
