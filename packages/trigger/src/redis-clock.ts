import type { Clock } from '@cronce/core'

/**
 * A1: Redis decides what time it is. A replica keeps the difference only to know when to wake.
 */
export interface RedisClock {
  /** Redis's now, as far as this replica knows. */
  now(): number
  /** Redis's now minus this clock's, ms. */
  readonly skewMs: number
  /** Learns from a script's answer, asked for at `askedAt` on this clock. */
  learn(redisNow: number, askedAt: number): void
}

export function createRedisClock(clock: Clock): RedisClock {
  let skew = 0
  let heard = false
  return {
    now: () => clock.now() + skew,
    get skewMs() {
      return skew
    },
    learn(redisNow, askedAt) {
      const answeredAt = clock.now()
      const roundTrip = answeredAt - askedAt
      // Half of a slow round trip is no measurement: the answer may have waited anywhere in it.
      if (heard && (roundTrip > 50 || roundTrip < 0)) return
      heard = true
      skew = redisNow - Math.round((askedAt + answeredAt) / 2)
    },
  }
}
