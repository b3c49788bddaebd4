import { useEffect, useState } from 'preact/hooks'
import type { ChangeAnswer } from '../src/job-answers.ts'

/** `live`: the server tells what changed. `polling`: it does not, so views ask again and again. */
export type StreamState = 'live' | 'polling'

/** How long after a refusal a stream is tried again, ms. */
const AGAIN_MS = 30_000

/** How long a stream that nobody listens to is kept, ms. */
const IDLE_MS = 1_000

const EVERYTHING: ChangeAnswer = { jobs: null, presence: true }

const listeners = new Set<(change: ChangeAnswer) => void>()
const watchers = new Set<(state: StreamState) => void>()
let source: EventSource | undefined
let again: ReturnType<typeof setTimeout> | undefined
let idle: ReturnType<typeof setTimeout> | undefined
let state: StreamState = 'polling'

/** One stream serves the whole page, while it is looked at: a browser opens few connections to one host, over all its tabs. */
export function listen(listener: (change: ChangeAnswer) => void): () => void {
  listeners.add(listener)
  clearTimeout(idle)
  open()
  return () => {
    listeners.delete(listener)
    // One view goes and the next one comes: the stream stays for it.
    if (listeners.size === 0) idle = setTimeout(close, IDLE_MS)
  }
}

export function streamState(): StreamState {
  return state
}

export function watchStream(watcher: (state: StreamState) => void): () => void {
  watchers.add(watcher)
  return () => void watchers.delete(watcher)
}

export function useStreamState(): StreamState {
  const [shown, setShown] = useState(state)
  useEffect(() => watchStream(setShown), [])
  return shown
}

document.addEventListener('visibilitychange', () => {
  if (document.hidden) close()
  else if (listeners.size > 0) open()
})

function open(): void {
  if (source !== undefined || document.hidden) return
  clearTimeout(again)
  const opened = new EventSource('/api/live')
  source = opened
  opened.addEventListener('open', () => {
    become('live')
    // What changed while no stream was open was told to nobody.
    tell(EVERYTHING)
  })
  opened.addEventListener('change', ({ data }: MessageEvent<string>) => tell(JSON.parse(data) as ChangeAnswer))
  opened.addEventListener('error', () => {
    become('polling')
    // A broken stream is opened again by the browser, a refused one is not.
    if (opened.readyState !== EventSource.CLOSED) return
    close()
    again = setTimeout(open, AGAIN_MS)
  })
}

function close(): void {
  clearTimeout(again)
  source?.close()
  source = undefined
  become('polling')
}

function tell(change: ChangeAnswer): void {
  for (const listener of listeners) listener(change)
}

function become(next: StreamState): void {
  if (next === state) return
  state = next
  for (const watcher of watchers) watcher(next)
}
