import type { RunAnswer, RunsAnswer } from '../src/answers.ts'
import { query as search } from './api.ts'
import { useLive } from './live.ts'
import { Pager, Pill, Shown } from './parts.tsx'
import { href } from './route.ts'
import { entitiesText, fromNowText, lengthText, utcText } from './text.ts'

export function RunsView({ query }: { query: URLSearchParams }) {
  const [job, state, cursor] = ['job', 'state', 'cursor'].map((name) => query.get(name) ?? undefined)
  const live = useLive<RunsAnswer>(`/api/runs${search({ job, state, cursor })}`)
  return (
    <>
      <div class="bar">
        <h1>Runs{job !== undefined && ` of ${job}`}</h1>
        {state !== undefined && <Pill text={state} />}
        {(job ?? state) !== undefined && <a href={href('runs')}>all runs</a>}
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

function RunTable({ runs, now }: { runs: readonly RunAnswer[]; now: number }) {
  return (
    <table class="cards">
      <thead>
        <tr>
          <th>Slot</th>
          <th>State</th>
          <th>Due</th>
          <th class="num">Late</th>
          <th class="num">Took</th>
          <th>Entities</th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <tr key={run.slot}>
            <td>
              <a class="mono" href={href('runs', run.slot)}>
                {run.slot}
              </a>
              {run.gap !== null && <div class="soft small">and {run.gap.count - 1} before it</div>}
            </td>
            <td>
              <Pill text={run.state} /> <span class="small soft">{run.reason ?? run.why ?? ''}</span>
            </td>
            <td class="small" title={utcText(run.at)}>
              {fromNowText(run.at, now)}
            </td>
            <td class="num" data-name="late">
              {run.latenessMs === null ? '–' : lengthText(run.latenessMs)}
            </td>
            <td class="num" data-name="took">
              {run.durationMs === null ? '–' : lengthText(run.durationMs)}
            </td>
            <td class="small">{entitiesText(run.entities)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
