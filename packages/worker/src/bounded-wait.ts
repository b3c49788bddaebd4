import type { Clock } from '@cronce/core'

/** Waits until something settles, either way, but no longer than this. Leaves no timer behind that would keep a process alive. */
export async function waitAtMost(clock: Clock, waitMs: number, what: Promise<unknown>): Promise<void> {
  await new Promise<void>((resolve) => {
    const cancel = clock.after(waitMs, resolve)
    const settle = () => {
      cancel()
      resolve()
    }
    what.then(settle, settle)
  })
}
