import { useState } from 'preact/hooks'
import type { JobDetailsAnswer } from '../src/job-answers.ts'
import { pathOf } from './api.ts'
import { PauseForm, ResumeForm, RunForm, SlotForm } from './job-actions.tsx'
import { JobBackfill } from './job-backfill.tsx'
import { JobDefinition } from './job-definition.tsx'
import { JobNext } from './job-next.tsx'
import { JobOverview } from './job-overview.tsx'
import { JobStanding } from './job-standing.tsx'
import { type Live, useLive } from './live.ts'
import { Command, Copy, Pill, quoted, Shown } from './parts.tsx'
import { jobHref } from './route.ts'

const PARTS = [
  ['', 'Runs and figures'],
  ['next', 'Next slots'],
  ['definition', 'Definition and edits'],
  ['backfill', 'Backfill'],
] as const

interface JobViewProps {
  readonly name: string
  readonly part: string
  readonly query: URLSearchParams
  readonly role: string
}

/** One job: how it stands, what it did, what it will do, what it is, and what can be done to it. */
export function JobView({ name, part, query, role }: JobViewProps) {
  const live = useLive<JobDetailsAnswer>(pathOf('api', 'jobs', name), { job: name })
  return (
    <>
      <div class="bar">
        <h1>
          {name} <Copy text={name} />
        </h1>
        <Command text={`cronce jobs ${quoted(name)}`} />
      </div>
      <Shown live={live}>
        {(details) => (
          <>
            <Head details={details} />
            {role !== 'viewer' && !details.job.gone && (
              <Acts details={details} live={live} role={role} slot={query.get('slot') ?? undefined} />
            )}
          </>
        )}
      </Shown>
      <nav class="tabs" aria-label={`Parts of ${name}`}>
        {PARTS.map(([each, title]) => (
          <a key={each} href={jobHref(name, each)} aria-current={each === part ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <Part {...{ name, part, query, role, live }} />
    </>
  )
}

function Part({ name, part, query, role, live }: JobViewProps & { live: Live<JobDetailsAnswer> }) {
  switch (part) {
    case '':
      return <JobOverview name={name} query={query} />
    case 'next':
      return <JobNext name={name} query={query} />
    case 'definition':
      return live.data === undefined ? null : <JobDefinition details={live.data} />
    case 'backfill':
      return <JobBackfill name={name} query={query} role={role} />
    default:
      return (
        <p class="empty">
          There is no such part. <a href={jobHref(name)}>{name}</a>
        </p>
      )
  }
}

function Head({ details }: { details: JobDetailsAnswer }) {
  const { job, now, dynamic } = details
  const { schedule, zone, queue, onCrash, description } = job
  return (
    <>
      <p class="lead">
        <b class="mono">{schedule}</b> <span class="soft">{zone}</span>
        {queue !== null && (
          <span class="soft">
            {' '}
            · queue {queue} · when a worker dies: {onCrash}
          </span>
        )}
        {dynamic && (
          <>
            {' '}
            <Pill text="added at run time" />
          </>
        )}
        {description !== null && <span class="block">{description}</span>}
      </p>
      <JobStanding job={job} now={now} />
    </>
  )
}

interface ActsProps {
  readonly details: JobDetailsAnswer
  readonly live: Live<JobDetailsAnswer>
  readonly role: string
  /** Of the address: a slot that somebody came to run. */
  readonly slot: string | undefined
}

type Act = 'run' | 'pause' | 'slot'

/** What can be done: one form at a time, so that nothing is pressed in the wrong one. */
function Acts({ details, live, role, slot }: ActsProps) {
  const [act, setAct] = useState<Act | undefined>(slot === undefined ? undefined : 'slot')
  const { job } = details
  const names: readonly (readonly [Act, string])[] = [
    ['run', 'Run now'],
    ['slot', 'Run a slot'],
    ['pause', job.pause === null ? 'Pause' : 'Resume'],
  ]
  const props = { job, reload: live.reload }
  return (
    <div class="panel">
      <div class="choices" role="group" aria-label={`Act on ${job.name}`}>
        {names.map(([each, title]) => (
          <button
            key={each}
            type="button"
            aria-expanded={act === each}
            aria-controls="act"
            onClick={() => setAct(act === each ? undefined : each)}
          >
            {title}…
          </button>
        ))}
        <a href={jobHref(job.name, 'backfill')}>Backfill a range</a>
      </div>
      <div id="act">
        {act === 'run' && <RunForm {...props} />}
        {act === 'slot' && <SlotForm key={slot} {...props} slot={slot ?? ''} role={role} />}
        {act === 'pause' && (job.pause === null ? <PauseForm {...props} /> : <ResumeForm {...props} />)}
      </div>
    </div>
  )
}
