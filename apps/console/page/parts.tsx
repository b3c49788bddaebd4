import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { RefusedRequest } from './api.ts'
import type { Live } from './live.ts'

/** An id that can be taken into the command line. */
export function Id({ text }: { text: string }) {
  const [copied, setCopied] = useState(false)
  const copy = () => {
    // Absent where the page is neither from this machine nor over TLS: the text can be selected all the same.
    navigator.clipboard?.writeText(text).then(
      () => setCopied(true),
      () => undefined,
    )
  }
  return (
    <span class="id">
      <code>{text}</code>
      <button type="button" class="copy" aria-label={`Copy ${text}`} onClick={copy} onBlur={() => setCopied(false)}>
        {copied ? 'copied' : 'copy'}
      </button>
    </span>
  )
}

/** What a view shows before there is something, and what it says when the last look failed. */
export function Shown<T>({ live, children }: { live: Live<T>; children: (data: T) => ComponentChildren }) {
  const { data, error } = live
  if (data === undefined) {
    return error === undefined ? <p class="soft">Loading…</p> : <Failure error={error} />
  }
  return (
    <>
      {error !== undefined && <Failure error={error} note="What is shown is from before." />}
      {children(data)}
    </>
  )
}

export function Failure({ error, note = '' }: { error: RefusedRequest; note?: string }) {
  return (
    <p class="failure" role="alert">
      <strong>{error.message}</strong> {note} <span class="soft mono">{error.code}</span>
    </p>
  )
}

const WORDS: Readonly<Record<string, string>> = {
  succeeded: 'ok',
  running: 'run',
  partial: 'warn',
  failed: 'bad',
  abandoned: 'bad',
  missed: 'bad',
  live: 'ok',
  silent: 'bad',
}

export function Pill({ text, tone }: { text: string; tone?: string }) {
  return <span class={`pill ${tone ?? WORDS[text] ?? ''}`}>{text}</span>
}

/** The way to the next page of a list, and back to the first. */
export function Pager({ first, next }: { first: string | undefined; next: string | undefined }) {
  if (first === undefined && next === undefined) return null
  return (
    <p class="pager">
      {first !== undefined && <a href={first}>Newest</a>}
      {next !== undefined && <a href={next}>Older</a>}
    </p>
  )
}
