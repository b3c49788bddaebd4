/** A process that is told to stop by signals. */
export interface Stoppable {
  /** Ends everything, well within the deadline. */
  readonly stop: (signal: NodeJS.Signals) => Promise<void>
  readonly deadlineMs: number
  /** Told why the process ends other than cleanly. */
  readonly onForced: (reason: 'second signal' | 'deadline' | 'failed', error?: unknown) => void
}

/**
 * W9: the first SIGTERM or SIGINT stops in order, and the process ends by itself with code 0. A second one, a stop that
 * fails or one that is not done at the deadline ends it at once with code 1.
 */
export function stopOnSignals({ stop, deadlineMs, onForced }: Stoppable): void {
  let state: 'running' | 'stopping' = 'running'
  const force = (reason: Parameters<Stoppable['onForced']>[0], error?: unknown) => {
    onForced(reason, error)
    process.exit(1)
  }
  const onSignal = (signal: NodeJS.Signals) => {
    if (state === 'stopping') return force('second signal')
    state = 'stopping'
    // Unreferenced: a process that has nothing left to do does not wait for it.
    setTimeout(() => force('deadline'), deadlineMs).unref()
    stop(signal).then(
      () => (process.exitCode = 0),
      (error: unknown) => force('failed', error),
    )
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
}
