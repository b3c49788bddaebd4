import { useCallback, useEffect, useState } from 'preact/hooks'
import type { ChangeAnswer } from '../src/job-answers.ts'
import { RefusedRequest, read } from './api.ts'
import { listen, streamState, watchStream } from './stream.ts'

/** How often a view asks while nobody tells it that something changed, ms. */
const POLL_MS = 2_000

/** ... and while somebody does: what only time changes, such as what is overdue by now. */
const LOOK_MS = 10_000

/** Least time between two questions, ms. */
const REST_MS = 800

/** What a path answers, asked for again whenever it may be another answer, while the page is looked at. */
export interface Live<T> {
  readonly data: T | undefined
  /** Of the last try; `data` is then from an earlier one. */
  readonly error: RefusedRequest | undefined
  /** Asks now. */
  readonly reload: () => void
}

export interface LiveOptions {
  /** The only job whose changes matter; default: any. */
  readonly job?: string | undefined
  /** `presence`: who is there matters as well. */
  readonly of?: 'jobs' | 'presence'
  /** Asks this often, whatever is told: for what no stream tells of, ms. */
  readonly everyMs?: number | undefined
}

export function useLive<T>(path: string, { job, everyMs, of = 'jobs' }: LiveOptions = {}): Live<T> {
  const [held, setHeld] = useState<{ path: string; data: T } | undefined>()
  const [error, setError] = useState<RefusedRequest | undefined>()
  const [round, setRound] = useState(0)
  const reload = useCallback(() => setRound((count) => count + 1), [])

  useEffect(() => {
    const stop = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let lookedAt = 0
    let standing: 'resting' | 'asking' | 'asked again' = 'resting'

    const look = async () => {
      standing = 'asking'
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
      if (stop.signal.aborted) return
      lookedAt = performance.now()
      const wasAsked = standing === ('asked again' as string)
      standing = 'resting'
      rest(wasAsked ? REST_MS : usualMs())
    }
    const usualMs = () => Math.min(everyMs ?? LOOK_MS, streamState() === 'live' ? LOOK_MS : POLL_MS)
    const rest = (delayMs: number) => {
      clearTimeout(timer)
      timer = setTimeout(next, delayMs)
    }
    const next = () => {
      // Nobody looks: nothing is asked until somebody does.
      if (document.hidden) document.addEventListener('visibilitychange', next, { once: true, signal: stop.signal })
      else void look()
    }
    const lookSoon = () => {
      if (standing === 'resting') rest(Math.max(0, lookedAt + REST_MS - performance.now()))
      else standing = 'asked again'
    }
    const stopListening = listen((change) => {
      if (concerns(change, job) || (of === 'presence' && change.presence)) lookSoon()
    })
    const stopWatching = watchStream(lookSoon)
    setError(undefined)
    void look()
    return () => {
      stop.abort()
      stopListening()
      stopWatching()
      clearTimeout(timer)
    }
  }, [path, round, job, everyMs, of])

  return { data: held?.path === path ? held.data : undefined, error, reload }
}

function concerns({ jobs }: ChangeAnswer, job: string | undefined): boolean {
  if (jobs === null) return true
  return job === undefined ? jobs.length > 0 : jobs.includes(job)
}
