import { type Clock, type CronceEvents, type EventEmitter, parseSlotKey, type RunState } from '@cronce/core'
import { sendRequest } from './send-request.ts'

/** How long a heartbeat's receiver may take, ms. */
const TIMEOUT_MS = 10_000

/** Pauses before further attempts, ms. A heartbeat that comes much later says nothing any more. */
const PAUSES_MS = [2_000, 10_000]

/** Outcomes that are told as good. A run that was cancelled or skipped says nothing. */
const TOLD: Partial<Record<RunState, 'good' | 'bad'>> = {
  succeeded: 'good',
  partial: 'bad',
  failed: 'bad',
  abandoned: 'bad',
}

export interface HeartbeatsOptions {
  readonly events: EventEmitter
  readonly clock: Clock
  /** URLs by job. */
  readonly urls: ReadonlyMap<string, string>
}

/** Pings a job's URL when a run of it ends here. Nothing waits for it, and what it cannot tell is an event. */
export function startHeartbeats({ events, clock, urls }: HeartbeatsOptions): () => void {
  if (urls.size === 0) return () => undefined
  const cancels = new Set<() => void>()
  const listen = ({ slot, state }: CronceEvents['run.ended']) => {
    const { job } = parseSlotKey(slot)
    const [url, told] = [urls.get(job), TOLD[state]]
    if (url !== undefined && told !== undefined) attempt({ job, url, told, tries: 0 })
  }

  function attempt(ping: { job: string; url: string; told: 'good' | 'bad'; tries: number }): void {
    const { job, url, told, tries } = ping
    const target = told === 'good' ? { url, method: 'GET' as const } : { url: failUrl(url), method: 'POST' as const }
    sendRequest({ ...target, timeoutMs: TIMEOUT_MS }).catch((error: unknown) => {
      const pauseMs = PAUSES_MS[tries]
      if (pauseMs === undefined) {
        events.emit('heartbeat.failed', { job, error })
        return
      }
      const cancel = clock.after(pauseMs, () => {
        cancels.delete(cancel)
        attempt({ ...ping, tries: tries + 1 })
      })
      cancels.add(cancel)
    })
  }

  const unlisten = events.on('run.ended', listen)
  return () => {
    unlisten()
    for (const cancel of cancels) cancel()
  }
}

/** `/fail` after the path, before the query. */
export function failUrl(url: string): string {
  const fail = new URL(url)
  fail.pathname = `${fail.pathname.replace(/\/$/, '')}/fail`
  return fail.href
}
