import { type Clock, CronceError } from '@cronce/core'
import type { Shutdown } from './shutdown.ts'

export interface TimedCall<T> {
  readonly clock: Clock
  readonly timeoutMs: number
  /** What the error calls it: "the entity source". */
  readonly name: string
  readonly shutdown: Shutdown
  readonly call: (signal: AbortSignal) => T | Promise<T>
}

/**
 * Calls foreign code once, for at most its time. Its signal fires when the time is over or the worker aborts; what it answers or
 * throws afterwards is ignored.
 *
 * @throws what it throws; CronceError CRONCE_CALL_TIMEOUT, CRONCE_SHUTDOWN
 */
export async function callInTime<T>({ clock, timeoutMs, name, shutdown, call }: TimedCall<T>): Promise<T> {
  const controller = new AbortController()
  let giveUp = (_: CronceError): void => undefined
  const over = new Promise<never>((_, reject) => {
    giveUp = (error) => {
      controller.abort(error)
      reject(error)
    }
  })
  const cancelTimer = clock.after(timeoutMs, () =>
    giveUp(new CronceError('CRONCE_CALL_TIMEOUT', { call: name, timeoutMs })),
  )
  const forget = shutdown.onPhase((phase) => {
    if (phase === 'aborting') giveUp(new CronceError('CRONCE_SHUTDOWN'))
  })
  try {
    // An async function of its own, so that a call which throws at once rejects like any other.
    return await Promise.race([over, (async () => await call(controller.signal))()])
  } finally {
    cancelTimer()
    forget()
  }
}
