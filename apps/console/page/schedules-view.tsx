import type { JobAnswer, Mark, SchedulesAnswer } from '../src/answers.ts'
import { query } from './api.ts'
import { JobActions } from './job-actions.tsx'
import { useLive } from './live.ts'
import { Pager, Pill, Shown } from './parts.tsx'
import { href } from './route.ts'
import { MARK_NAMES, Strip } from './strip.tsx'
import { Summary } from './summary.tsx'
import { entitiesText, fromNowText, lengthText, utcText } from './text.ts'

export function SchedulesView({ mayChange, cursor }: { mayChange: boolean; cursor: string | undefined }) {
  const live = useLive<SchedulesAnswer>(`/api/schedules${query({ cursor })}`)
  return (
    <Shown live={live}>
      {({ summary, jobs, now, next }) => (
        <>
          <Summary summary={summary} now={now} />
          <div class="bar">
            <h1>Schedules</h1>
            <Pill text="overdue first" />
            <span class="soft mono">{utcText(now)}</span>
            <Legend />
          </div>
          {jobs.length === 0 ? (
            <p class="empty">
              No job is registered yet. A job appears here once a replica that carries it has started: see{' '}
              <code>docs/console.md</code>.
            </p>
          ) : (
            <div class="rows" role="list">
              {jobs.map((job) => (
                <JobRow key={job.name} job={job} now={now} mayChange={mayChange} reload={live.reload} />
              ))}
            </div>
          )}
          <Pager
            first={cursor === undefined ? undefined : href('')}
            next={next === null ? undefined : href('', undefined, { after: next })}
          />
        </>
      )}
    </Shown>
  )
}

function Legend() {
  const marks = Object.entries(MARK_NAMES) as [Mark, string][]
  return (
    <div class="legend">
      {marks.map(([mark, name]) => (
        <span key={mark}>
          <i class={mark} />
          {name}
        </span>
      ))}
    </div>
  )
}

interface RowProps {
  readonly job: JobAnswer
  readonly now: number
  readonly mayChange: boolean
  readonly reload: () => void
}

function JobRow({ job, now, mayChange, reload }: RowProps) {
  const { name, schedule, zone, deadLetters, overdue, slots } = job
  return (
    <section class={`row ${overdue.length > 0 ? 'alarm' : ''}`} role="listitem" aria-label={name}>
      <div class="cell job">
        <a class="name" href={href('runs', undefined, { job: name })}>
          {name}
        </a>
        <div class="soft small">
          {schedule} · {zone}
        </div>
        {deadLetters > 0 && (
          <a class="small" href={href('dead', undefined, { job: name })}>
            <Pill text={`${deadLetters} dead`} tone="warn" />
          </a>
        )}
      </div>
      <div class="cell next">
        <Standing job={job} now={now} />
      </div>
      <div class="cell slots">
        <Strip job={name} slots={slots} />
      </div>
      <div class="cell figures">
        <Figures job={job} />
      </div>
      {mayChange && !job.gone && (
        <div class="cell act">
          <JobActions job={job} reload={reload} />
        </div>
      )}
    </section>
  )
}

function Standing({ job, now }: { job: JobAnswer; now: number }) {
  const { overdue, running, next, pause, fault, gone } = job
  return (
    <>
      {overdue.map((row) => (
        <div key={`${row.slot} ${row.kind}`} class="why">
          <Pill
            text={`${row.kind === 'start' ? 'not started' : 'not ended'}, overdue ${lengthText(row.sinceMs)}`}
            tone="bad"
          />{' '}
          {row.reason}
          <div class="small">
            <a class="inst" href={href('runs', row.slot)}>
              due {row.local}
            </a>{' '}
            {row.local !== utcText(row.at) && <span class="inst">{utcText(row.at)}</span>}
            {row.count > 1 && `, and ${row.count - 1} more`}
          </div>
        </div>
      ))}
      {running !== null && (
        <div>
          <a href={href('runs', running.slot)}>
            <Pill text="running" />
          </a>{' '}
          <span class="small">{entitiesText(running.entities)}</span>
        </div>
      )}
      {fault !== '' && <div class="why small">this release cannot read its definition: {fault}</div>}
      {gone && <div class="soft small">removed: no live replica carries it</div>}
      {pause !== null && (
        <div class="small">
          <Pill text={pause.state} tone="warn" /> by {pause.by}
          {pause.note !== '' && `: ${pause.note}`}
          {pause.untilAt !== null && `, until ${utcText(pause.untilAt)}`}
        </div>
      )}
      {next !== null && (
        <div class="small">
          <span class="soft">next </span>
          {fromNowText(next.startsAt, now)}
          <div class="soft num">
            <span class="inst">{next.local}</span>{' '}
            {next.local !== utcText(next.at) && <span class="inst">{utcText(next.at)}</span>}
          </div>
          {next.note !== null && <div class="warn-text">{next.note}</div>}
        </div>
      )}
    </>
  )
}

function Figures({ job }: { job: JobAnswer }) {
  const { latenessP50Ms, tookMs, intervalMs } = job
  const share = tookMs === null || intervalMs === null ? 0 : Math.min(1, tookMs / intervalMs)
  return (
    <>
      <div>
        <span class="soft small">late p50 </span>
        {latenessP50Ms === null ? '–' : lengthText(latenessP50Ms)}
      </div>
      <div>
        <div class="soft small">took / interval</div>
        {tookMs === null ? '–' : lengthText(tookMs)} / {intervalMs === null ? '–' : lengthText(intervalMs)}
      </div>
      <div class={`meter ${share > 0.7 ? 'full' : ''}`} aria-hidden="true">
        <i style={{ width: `${Math.max(share > 0 ? 1 : 0, 100 * share)}%` }} />
      </div>
    </>
  )
}
