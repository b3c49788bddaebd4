/**
 * Aborts the answered signal at the first SIGINT, SIGTERM or SIGHUP, so that the demo stops in order; a second one ends
 * the process at once, and its children with it.
 */
export function stopOnSignals(): AbortSignal {
  const stop = new AbortController()
  const onSignal = (signal: NodeJS.Signals) => {
    if (stop.signal.aborted) process.exit(1)
    stop.abort(signal)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
  return stop.signal
}
