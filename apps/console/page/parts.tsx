import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { RefusedRequest } from './api.ts'
import type { Live } from './live.ts'

/** An id that can be taken into the command line; `command` is what shows the same there. */
export function Id({ text, command }: { text: string; command?: string }) {
  return (
    <span class="id">
      <code>{text}</code>
      <Copy text={text} />
      {command !== undefined && <Command text={command} />}
    </span>
  )
}

/** A command that does or shows the same as what stands beside it. */
export function Command({ text }: { text: string }) {
  return (
    <span class="command">
      <code>{text}</code>
      <Copy text={text} />
    </span>
  )
}

export function Copy({ text, name = 'copy' }: { text: string; name?: string }) {
  const [state, setState] = useState<'idle' | 'copied' | 'refused'>('idle')
  const copy = () => {
    // Absent where the page is neither from this machine nor over TLS: the text can be selected all the same.
    const written = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard'))
    written.then(
      () => setState('copied'),
      () => setState('refused'),
    )
  }
  return (
    <button type="button" class="copy" aria-label={`Copy ${text}`} onClick={copy} onBlur={() => setState('idle')}>
      {state === 'idle' ? name : state === 'copied' ? 'copied' : 'select it'}
    </button>
  )
}

/** What a view shows before there is something, and what it says when the last look failed. */
export function Shown<T>({ live, children }: { live: Live<T>; children: (data: T) => ComponentChildren }) {
  const { data, error, reload } = live
  if (data === undefined) {
    return error === undefined ? (
      <p class="soft loading" role="status">
        Loading…
      </p>
    ) : (
      <>
        <Failure error={error} />
        <button type="button" onClick={reload}>
          Try again
        </button>
      </>
    )
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
  done: 'ok',
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

/** Names and values, those without a value left out. */
export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== '' && value !== null && value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}

/** The way to the next page of a list, and back to the first. */
export function Pager({ first, next, names }: PagerProps) {
  const [firstName, nextName] = names ?? ['Newest', 'Older']
  if (first === undefined && next === undefined) return null
  return (
    <nav class="pager" aria-label="Pages">
      {first !== undefined && <a href={first}>{firstName}</a>}
      {next !== undefined && <a href={next}>{nextName}</a>}
    </nav>
  )
}

interface PagerProps {
  readonly first: string | undefined
  readonly next: string | undefined
  readonly names?: readonly [first: string, next: string]
}

/** A word of the command line, whatever characters it has. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
