import { isIPv6 } from 'node:net'
import { CronceError } from '@cronce/core'
import { RateLimiterMemory } from 'rate-limiter-flexible'

/** Wrong tokens, links and secrets of one address within a minute; after that more wrong ones wait. */
export const MOST_FAILURES = 30

/** Addresses that are counted within a minute. Beyond it new ones are not, so that nobody fills the memory nor locks others out. */
const MOST_ADDRESSES = 5_000

const WINDOW_S = 60

/** Slows down whoever tries tokens. A right one is never asked about: many people may share the address of a proxy. */
export interface SignInLimit {
  /**
   * Counts a wrong one.
   *
   * @throws CronceError CRONCE_CONSOLE_WAIT, beyond {@link MOST_FAILURES} of its address
   */
  wrong(address: string): Promise<void>
}

export function createSignInLimit(): SignInLimit {
  const failures = new RateLimiterMemory({ points: MOST_FAILURES, duration: WINDOW_S })
  const fresh = new RateLimiterMemory({ points: MOST_ADDRESSES, duration: WINDOW_S })
  return {
    async wrong(address) {
      const key = keyOf(address)
      const found = await failures.get(key)
      if (found !== null && found.consumedPoints >= MOST_FAILURES) {
        throw new CronceError('CRONCE_CONSOLE_WAIT', { seconds: Math.max(1, Math.ceil(found.msBeforeNext / 1_000)) })
      }
      if (found === null) {
        const { consumedPoints } = await fresh.penalty('all')
        if (consumedPoints > MOST_ADDRESSES) return
      }
      await failures.penalty(key)
    },
  }
}

/** Of IPv6 the network: whoever has one address there has 2^64. */
function keyOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address
  const [head = ''] = address.split('::')
  return head.split(':').slice(0, 4).join(':')
}
