import type { JobAnswer, Mark, SchedulesAnswer } from '../src/answers.ts'
import { query as search } from './api.ts'
import { textOf } from './form-text.ts'
import { JobActions, TextField } from './job-actions.tsx'
import { JobStanding } from './job-standing.tsx'
import { useLive } from './live.ts'
import { useNow } from './now.ts'
import { Command, Pager, Pill, Shown } from './parts.tsx'
import { href, jobHref } from './route.ts'
import { MARK_NAMES, Strip } from './strip.tsx'
import { Summary } from './summary.tsx'
import { lengthText, utcText } from './text.ts'

export function SchedulesView({ mayChange, query }: { mayChange: boolean; query: URLSearchParams }) {
  const [cursor, name] = ['after', 'name'].map((each) => query.get(each) ?? undefined)
  const live = useLive<SchedulesAnswer>(`/api/schedules${search({ cursor, name })}`)
  const apply = (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    location.hash = href('', undefined, { name: textOf(form, 'name').trim() })
  }
  return (
    <Shown live={live}>
      {({ summary, jobs, now, next }) => (
        <>
          <Summary summary={summary} now={now} />
          <div class="bar">
            <h1>Schedules</h1>
            <Pill text="overdue first" />
            <Now toldAt={now} />
            <Command text="cronce jobs" />
            <form class="filter" key={name} onSubmit={apply}>
              <TextField name="name" label="Job" value={name ?? ''} placeholder="part of a name" size={14} />
              <button type="submit">Find</button>
              {name !== undefined && <a href={href('')}>all</a>}
            </form>
          </div>
          {jobs.length === 0 ? (
            <Nothing isFiltered={name !== undefined} />
          ) : (
            <>
              <Legend />
              <div class="rows">
                <div class="row head" aria-hidden="true">
                  <div class="cell job">Job</div>
                  <div class="cell slots">Last 40 slots, height is duration</div>
                  <div class="cell figures">Late p50 · took / interval</div>
                  <div class="cell next">Next</div>
                </div>
                <div role="list">
                  {jobs.map((job) => (
                    <JobRow key={job.name} job={job} now={now} mayChange={mayChange} reload={live.reload} />
                  ))}
                </div>
              </div>
            </>
          )}
          <Pager
            first={cursor === undefined ? undefined : href('', undefined, { name })}
            next={next === null ? undefined : href('', undefined, { name, after: next })}
            names={['First jobs', 'More jobs']}
          />
        </>
      )}
    </Shown>
  )
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <p class="empty">No job has a name like that.</p>
  return (
    <p class="empty">
      No job is registered yet. A job appears here once a replica that carries it has started: see{' '}
      <code>docs/console.md</code>.
    </p>
  )
}

function Now({ toldAt }: { toldAt: number }) {
  return <span class="soft mono">{utcText(useNow(toldAt))}</span>
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
        <a class="name" href={jobHref(name)}>
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
      <div class="cell slots">
        <Strip job={name} slots={slots} />
      </div>
      <div class="cell figures">
        <Figures job={job} />
      </div>
      <div class="cell next">
        <JobStanding job={job} now={now} />
      </div>
      {mayChange && !job.gone && (
        <div class="cell act">
          <JobActions job={job} reload={reload} />
        </div>
      )}
    </section>
  )
}

/** From here on a run takes so much of its interval that the next slot may meet it. */
const FULL_SHARE = 0.7

function Figures({ job }: { job: JobAnswer }) {
  const { latenessP50Ms, tookMs, intervalMs } = job
  const share = tookMs === null || intervalMs === null ? 0 : Math.min(1, tookMs / intervalMs)
  return (
    <>
      <div>
        <span class="soft small">late </span>
        {latenessP50Ms === null ? '–' : lengthText(latenessP50Ms)}
      </div>
      <div>
        {tookMs === null ? '–' : lengthText(tookMs)} <span class="soft">/</span>{' '}
        {intervalMs === null ? '–' : lengthText(intervalMs)}
      </div>
      <div class={`meter ${share > FULL_SHARE ? 'full' : ''}`} aria-hidden="true">
        <i style={{ width: `${Math.max(share > 0 ? 1 : 0, 100 * share)}%` }} />
      </div>
    </>
  )
}
