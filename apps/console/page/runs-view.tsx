import type { RunsAnswer } from '../src/answers.ts'
import { query as search } from './api.ts'
import { textOf } from './form-text.ts'
import { TextField } from './job-actions.tsx'
import { useLive } from './live.ts'
import { Command, Pager, quoted, Shown } from './parts.tsx'
import { href, jobHref } from './route.ts'
import { RunTable } from './runs-table.tsx'

export const STATES = [
  'running',
  'enqueued',
  'claimed',
  'due',
  'succeeded',
  'partial',
  'failed',
  'abandoned',
  'skipped',
  'missed',
] as const

export function RunsView({ query }: { query: URLSearchParams }) {
  const [job, state, cursor] = ['job', 'state', 'cursor'].map((name) => query.get(name) ?? undefined)
  const live = useLive<RunsAnswer>(`/api/runs${search({ job, state, cursor })}`, { job })
  const apply = (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    location.hash = href('runs', undefined, { job: textOf(form, 'job').trim(), state: textOf(form, 'state') })
  }
  const command = ['cronce runs', ...(job === undefined ? [] : [`--job ${quoted(job)}`])].join(' ')
  return (
    <>
      <div class="bar">
        <h1>Runs</h1>
        {job !== undefined && <a href={jobHref(job)}>of {job}</a>}
        <Command text={state === undefined ? command : `${command} --state ${state}`} />
        <form class="filter" key={`${job} ${state}`} onSubmit={apply}>
          <TextField name="job" label="Job" value={job ?? ''} size={16} />
          <StateField state={state} />
          <button type="submit">Filter</button>
          {(job ?? state) !== undefined && <a href={href('runs')}>all</a>}
        </form>
      </div>
      <Shown live={live}>
        {({ runs, now, next }) => (
          <>
            {runs.length === 0 ? <p class="empty">No run is like that.</p> : <RunTable runs={runs} now={now} />}
            <Pager
              first={cursor === undefined ? undefined : href('runs', undefined, { job, state })}
              next={next === null ? undefined : href('runs', undefined, { job, state, cursor: next })}
            />
          </>
        )}
      </Shown>
    </>
  )
}

export function StateField({ state }: { state: string | undefined }) {
  return (
    <label>
      State{' '}
      <select name="state">
        <option value="">any</option>
        {STATES.map((name) => (
          <option key={name} value={name} selected={name === state}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
