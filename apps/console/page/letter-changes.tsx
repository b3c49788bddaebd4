import { useState } from 'preact/hooks'
import type { LetterChangeAnswer, LetterChangesAnswer, LetterPreviewAnswer } from '../src/letter-answers.ts'
import { change, pathOf, RefusedRequest } from './api.ts'
import { textOf } from './form-text.ts'
import { TextField } from './job-actions.tsx'
import { useLive } from './live.ts'
import { Failure, Pill } from './parts.tsx'
import { countText, lengthText, numberText } from './text.ts'

/** How often progress is asked for: the console makes the change, and no stream tells of it, ms. */
const PROGRESS_MS = 1_000

type Verb = 'redrive' | 'discard'

const NAMES = { redrive: 'Redrive', discard: 'Discard' } as const

interface ChangeProps {
  /** What the API is asked with: ids or a filter. */
  readonly selection: object
  readonly name: string
  readonly mayDiscard: boolean
  readonly onStarted: () => void
  /** What is shown was older than the refusal. */
  readonly onRefused: () => void
}

/** Redrives or discards what is chosen: first what it comes to, then how fast and why. */
export function LetterChange({ selection, name, mayDiscard, onStarted, onRefused }: ChangeProps) {
  const [verb, setVerb] = useState<Verb | undefined>()
  const [preview, setPreview] = useState<LetterPreviewAnswer | undefined>()
  const [error, setError] = useState<RefusedRequest | undefined>()
  const [state, setState] = useState<'idle' | 'sending'>('idle')

  const ask = async (work: () => Promise<void>) => {
    setState('sending')
    setError(undefined)
    try {
      await work()
    } catch (failure) {
      const isRefusal = failure instanceof RefusedRequest
      setError(isRefusal ? failure : new RefusedRequest(0, { code: 'AWAY', message: String(failure) }))
      onRefused()
    }
    setState('idle')
  }
  const see = (next: Verb) =>
    void ask(async () => {
      setVerb(next)
      setPreview(undefined)
      setPreview(await change<LetterPreviewAnswer>('POST', '/api/letter-changes/preview', { verb: next, selection }))
    })
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    // What died after the look at it is not what is asked for.
    const selectedAt = preview?.selectedAt
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const [rate, note] = ['rate', 'note'].map((each) => textOf(form, each).trim()) as [string, string]
    const abandoned = textOf(form, 'abandoned') === '' ? {} : { abandoned: 'too' }
    const body = {
      verb,
      selection,
      selectedAt,
      ...(rate === '' ? {} : { rate }),
      ...(verb === 'discard' ? { note } : abandoned),
    }
    void ask(async () => {
      await change('POST', '/api/letter-changes', body)
      onStarted()
    })
  }
  return (
    <section class="panel" aria-label="Change what is chosen">
      <div class="choices">
        {(['redrive', 'discard'] as const).map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={verb === each}
            disabled={state === 'sending' || (each === 'discard' && !mayDiscard)}
            title={each === 'discard' && !mayDiscard ? 'To discard several needs the role admin' : undefined}
            onClick={() => see(each)}
          >
            {NAMES[each]} {name}…
          </button>
        ))}
      </div>
      {verb !== undefined && preview !== undefined && (
        <form class="act-form" onSubmit={submit}>
          <PreviewText verb={verb} preview={preview} />
          {verb === 'discard' && <TextField name="note" label="Note" placeholder="why; kept with each letter" />}
          {verb === 'redrive' && preview.abandonedLeft > 0 && (
            <label>
              <input type="checkbox" name="abandoned" value="too" /> also what was abandoned and may have had its effect
            </label>
          )}
          <TextField name="rate" label="At most" placeholder="100/min; empty: at once" size={20} />
          <button
            type="submit"
            class="main"
            disabled={state === 'sending' || preview.entities + preview.abandonedLeft === 0}
          >
            {NAMES[verb]} {countText(preview.entities, 'letter')}
          </button>
        </form>
      )}
      {error !== undefined && <Failure error={error} />}
    </section>
  )
}

function PreviewText({ verb, preview }: { verb: Verb; preview: LetterPreviewAnswer }) {
  const { entities, runs, abandonedLeft, settled } = preview
  const [first] = settled
  return (
    <p role="status">
      <b>
        {countText(entities, 'letter')} of {countText(runs, 'run')}
      </b>
      {verb === 'redrive'
        ? ' would run again, under their slots; effects that have receipts are not repeated. '
        : ' would be given up; their runs still count them as dead. '}
      {abandonedLeft > 0 && `${numberText(abandonedLeft)} abandoned are left alone. `}
      {first !== undefined &&
        `${numberText(settled.length)} not open any more: ${first.id} is ${first.state}${settled.length > 1 ? ', and others' : ''}. `}
      Nothing is changed yet.
    </p>
  )
}

/** Changes that are over are shown for a while, so many of them. */
const MOST_SHOWN = 3

/** What this console changes, or has changed; it goes on when nobody looks. */
export function LetterChangeList({ mayStop }: { mayStop: boolean }) {
  const live = useLive<LetterChangesAnswer>('/api/letter-changes', { everyMs: PROGRESS_MS })
  const [hidden, setHidden] = useState<readonly string[]>([])
  const shown = (live.data?.changes ?? []).filter(({ id }) => !hidden.includes(id)).slice(0, MOST_SHOWN)
  return (
    <>
      {shown.map((each) => (
        <ChangeProgress
          key={each.id}
          {...{ change: each, mayStop, reload: live.reload }}
          hide={() => setHidden([...hidden, each.id])}
        />
      ))}
    </>
  )
}

interface ProgressProps {
  readonly change: LetterChangeAnswer
  readonly mayStop: boolean
  readonly reload: () => void
  readonly hide: () => void
}

function ChangeProgress({ change: shown, mayStop, reload, hide }: ProgressProps) {
  const { id, verb, state, ended, total, by, selection, rate, note, startedAt, endedAt, result, error } = shown
  const isUnderWay = state === 'running' || state === 'stopping'
  // A refusal says that it is over, which the next look shows.
  const stop = () => void change('DELETE', pathOf('api', 'letter-changes', id)).then(reload, reload)
  const results =
    result === null
      ? []
      : [
          `${numberText(result.entities)} ${verb === 'redrive' ? 'queued again' : 'discarded'}`,
          ...(result.unchanged === 0 ? [] : [`${numberText(result.unchanged)} changed by others meanwhile`]),
          ...(result.left === 0 ? [] : [`${numberText(result.left)} left: the same again goes on with them`]),
        ]
  return (
    <section class="panel" aria-label={`${NAMES[verb]} ${state}`}>
      <div class="progress">
        <Pill text={state} tone={isUnderWay ? 'run' : state === 'ended' ? 'ok' : state === 'failed' ? 'bad' : 'warn'} />
        <progress max={Math.max(1, total)} value={total === 0 ? 1 : ended} aria-label="Letters that had their turn" />
        <span class="num">
          {verb} {numberText(ended)} of {countText(total, 'letter')}
        </span>
        {state === 'running' && mayStop && (
          <button type="button" onClick={stop}>
            Stop
          </button>
        )}
        {!isUnderWay && (
          <button type="button" class="plain" onClick={hide}>
            hide
          </button>
        )}
      </div>
      <p class="small soft">
        {selection}, by {by}
        {rate !== null && `, at most ${rate}`}
        {note !== null && `: ${note}`}
        {endedAt !== null && `; ${lengthText(endedAt - startedAt)}`}
        {results.length > 0 && `; ${results.join(', ')}`}
      </p>
      {error !== null && <p class="failure">{error}</p>}
    </section>
  )
}
