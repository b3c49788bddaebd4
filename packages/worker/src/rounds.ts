import type { Clock, Random } from '@cronce/core'

export interface RoundsOptions {
  readonly clock: Clock
  readonly random: Random
  readonly everyMs: number
  /** Share of the pause that is left to chance, so that a fleet spreads. */
  readonly jitter: number
  readonly round: () => Promise<void>
  readonly onError: (error: unknown) => void
}

/** Does something again and again, one round at a time. Answers what ends it, after the round in hand. */
export function startRounds({ clock, random, everyMs, jitter, round, onError }: RoundsOptions): () => Promise<void> {
  let isStopped = false
  let inHand: Promise<void> = Promise.resolve()
  let cancel = (): void => undefined
  const again = () => {
    if (!isStopped) cancel = clock.after(everyMs * (1 - jitter * random()), begin)
  }
  const begin = () => {
    inHand = round().catch(onError).then(again)
  }
  begin()
  return async () => {
    isStopped = true
    cancel()
    await inHand
  }
}
