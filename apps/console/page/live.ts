import { useCallback, useEffect, useState } from 'preact/hooks'
import { RefusedRequest, read } from './api.ts'

const EVERY_MS = 2_000

/** What a path answers, asked for again and again while the page is looked at. */
export interface Live<T> {
  readonly data: T | undefined
  /** Of the last try; `data` is then from an earlier one. */
  readonly error: RefusedRequest | undefined
  /** Asks now. */
  readonly reload: () => void
}

export function useLive<T>(path: string): Live<T> {
  const [held, setHeld] = useState<{ path: string; data: T } | undefined>()
  const [error, setError] = useState<RefusedRequest | undefined>()
  const [round, setRound] = useState(0)
  const reload = useCallback(() => setRound((count) => count + 1), [])

  useEffect(() => {
    const stop = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = async () => {
      try {
        const data = await read<T>(path, stop.signal)
        setHeld({ path, data })
        setError(undefined)
      } catch (failure) {
        if (stop.signal.aborted) return
        const refused = failure instanceof RefusedRequest ? failure : undefined
        setError(refused ?? new RefusedRequest(0, { code: 'AWAY', message: String(failure) }))
        if (refused?.status === 401) dispatchEvent(new Event('signed-out'))
      }
      if (!stop.signal.aborted) timer = setTimeout(next, EVERY_MS)
    }
    const next = () => {
      // Nobody looks: nothing is asked until somebody does.
      if (document.hidden) document.addEventListener('visibilitychange', next, { once: true, signal: stop.signal })
      else void look()
    }
    setError(undefined)
    void look()
    return () => {
      stop.abort()
      clearTimeout(timer)
    }
  }, [path, round])

  return { data: held?.path === path ? held.data : undefined, error, reload }
}
