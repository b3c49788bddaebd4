import type { Clock } from '@cronce/core'
import type { Shutdown } from './shutdown.ts'

/** Tries a write again that failed because Redis did. What it throws in the end is what the last try threw. */
export type Patience = <T>(write: () => Promise<T>) => Promise<T>

/** Waits between tries, ms. The connection itself waits for Redis to be back; these are for answers such as READONLY and LOADING. */
const WAITS_MS = [250, 500, 1_000, 2_000]

export function createPatience({ clock, shutdown }: { clock: Clock; shutdown: Shutdown }): Patience {
  return async (write) => {
    for (const waitMs of WAITS_MS) {
      try {
        return await write()
      } catch (error) {
        if (shutdown.phase === 'aborting') throw error
        await new Promise<void>((resolve) => void clock.after(waitMs, resolve))
      }
    }
    return await write()
  }
}
