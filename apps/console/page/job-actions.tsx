import { useState } from 'preact/hooks'
import type { JobAnswer } from '../src/answers.ts'
import { pathOf } from './api.ts'
import { useChange } from './change.ts'
import { Failure } from './parts.tsx'
import { href } from './route.ts'

/** Run now, pause, resume. */
export function JobActions({ job, reload }: { job: JobAnswer; reload: () => void }) {
  const [note, setNote] = useState('')
  const { state, error, answer, send } = useChange(reload)
  const { name, pause } = job
  const at = (verb: string) => pathOf('api', 'jobs', name, verb)
  const noted = note.trim() === '' ? {} : { note: note.trim() }
  const isBusy = state === 'sending'
  return (
    <details>
      <summary aria-label={`Act on ${name}`}>Act</summary>
      <form onSubmit={(event) => event.preventDefault()}>
        <label>
          Note{' '}
          <input
            value={note}
            maxLength={1_000}
            onInput={(event) => setNote(event.currentTarget.value)}
            placeholder="why"
          />
        </label>
        <button type="button" disabled={isBusy || job.fault !== ''} onClick={() => send(at('run'), noted)}>
          Run now
        </button>
        {pause === null ? (
          <button
            type="button"
            disabled={isBusy || note.trim() === ''}
            title="Needs a note"
            onClick={() => send(at('pause'), noted)}
          >
            Pause
          </button>
        ) : (
          <button
            type="button"
            disabled={isBusy || pause.state === 'resuming'}
            onClick={() => send(at('resume'), noted)}
          >
            Resume
          </button>
        )}
      </form>
      <div role="status">
        {state === 'done' &&
          (answer?.slot === undefined ? 'done' : <a href={href('runs', answer.slot)}>{answer.slot}</a>)}
      </div>
      {error !== undefined && <Failure error={error} />}
    </details>
  )
}
