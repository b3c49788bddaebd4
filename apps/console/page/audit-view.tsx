import { useEffect, useState } from 'preact/hooks'
import type { JobAuditsAnswer } from '../src/job-answers.ts'
import { ActionsSection } from './actions-section.tsx'
import { RefusedRequest, read, query as search } from './api.ts'
import { textOf } from './form-text.ts'
import { TextField } from './job-actions.tsx'
import { Command, Failure, Pager, Pill, quoted } from './parts.tsx'
import { href, jobHref } from './route.ts'
import { countText, numberText, utcText } from './text.ts'

const RANGES = [
  ['1', 'the last hour'],
  ['24', 'the last day'],
  ['168', 'the last week'],
  ['744', 'the last 31 days'],
] as const

/** Whether every slot that had to exist is recorded, job by job; and what people changed. */
export function AuditView({ query }: { query: URLSearchParams }) {
  const [job, hours = '24', from, to, after] = ['job', 'hours', 'from', 'to', 'after'].map(
    (each) => query.get(each) ?? undefined,
  )
  const apply = (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const range = from === undefined && to === undefined ? { hours: textOf(form, 'hours') } : { from, to }
    location.hash = href('audit', undefined, { ...range, job: textOf(form, 'job').trim() })
  }
  const filter = { job, ...(from === undefined ? { hours } : { from, to }) }
  return (
    <>
      <div class="bar">
        <h1>Audit</h1>
        <form class="filter" key={`${job} ${hours}`} onSubmit={apply}>
          <TextField name="job" label="Job" value={job ?? ''} size={16} />
          <label>
            Range{' '}
            <select name="hours">
              {RANGES.map(([value, name]) => (
                <option key={value} value={value} selected={value === hours}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <button type="submit">Audit</button>
          {job !== undefined && <a href={href('audit', undefined, { hours })}>all jobs</a>}
        </form>
      </div>
      <p class="soft">
        Which slots had to exist, by the definitions that were in force, against what the ledger has. It adds up where
        nothing is missing and nothing is there twice.
      </p>
      <Sums path={`/api/audit/jobs${search({ ...filter, cursor: after })}`} filter={filter} after={after} />
      <ActionsSection query={query} />
    </>
  )
}

/** By instants, not by how long ago: the same slots, whenever it is called. */
function commandOf({ fromAt, toAt }: JobAuditsAnswer, job: string | undefined): string {
  const [from, to] = [fromAt, toAt].map((at) => new Date(at).toISOString())
  return `cronce audit --from ${from} --to ${to}${job === undefined ? '' : ` --job ${quoted(job)}`}`
}

interface SumsProps {
  readonly path: string
  readonly filter: Readonly<Record<string, string | undefined>>
  readonly after: string | undefined
}

/** Asked once, not again and again: it reads the whole ledger of its range. */
function Sums({ path, filter, after }: SumsProps) {
  const [held, setHeld] = useState<{ path: string; answer: JobAuditsAnswer } | undefined>()
  const [error, setError] = useState<RefusedRequest | undefined>()
  const [round, setRound] = useState(0)
  useEffect(() => {
    const stop = new AbortController()
    setError(undefined)
    read<JobAuditsAnswer>(path, stop.signal).then(
      (answer) => setHeld({ path, answer }),
      (failure: unknown) => {
        if (!stop.signal.aborted && failure instanceof RefusedRequest) setError(failure)
      },
    )
    return () => stop.abort()
  }, [path, round])
  const again = (
    <button type="button" onClick={() => setRound((count) => count + 1)}>
      Audit again
    </button>
  )
  if (error !== undefined)
    return (
      <>
        <Failure error={error} /> {again}
      </>
    )
  if (held?.path !== path)
    return (
      <p class="soft loading" role="status">
        Auditing…
      </p>
    )
  return <SumsTable answer={held.answer} filter={filter} after={after} again={again} />
}

type SumsTableProps = Omit<SumsProps, 'path'> & {
  readonly answer: JobAuditsAnswer
  readonly again: preact.ComponentChildren
}

function SumsTable({ answer, filter, after, again }: SumsTableProps) {
  const { jobs, slots, fromAt, toAt, next } = answer
  const odd = jobs.filter(({ outcome }) => outcome === 'does-not-add-up').length
  if (jobs.length === 0) return <p class="empty">No job is registered.</p>
  return (
    <section aria-label="Sums">
      <div class="bar" role="status">
        <Pill
          text={odd === 0 ? 'adds up' : `${countText(odd, 'job')} does not add up`.replace('jobs does', 'jobs do')}
          tone={odd === 0 ? 'ok' : 'bad'}
        />
        <span class="soft small">
          <span class="inst">{utcText(fromAt)}</span> to <span class="inst">{utcText(toAt)}</span>
          {(next !== null || after !== undefined) && ', the jobs of this page'}
        </span>
        {again}
        <Command text={commandOf(answer, filter['job'])} />
      </div>
      <table class="cards">
        <thead>
          <tr>
            <th scope="col">Job</th>
            <th scope="col">Outcome</th>
            {['Expected', 'Recorded', 'Missing', 'Double', 'Unexpected'].map((name) => (
              <th key={name} scope="col" class="num">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {jobs.map((row) => (
            <tr key={row.job} class={row.outcome === 'adds-up' ? '' : 'alarm'}>
              <td>
                <a class="name" href={jobHref(row.job)}>
                  {row.job}
                </a>
              </td>
              <td>
                <Pill
                  text={row.outcome === 'adds-up' ? 'adds up' : 'does not add up'}
                  tone={row.outcome === 'adds-up' ? 'ok' : 'bad'}
                />{' '}
                <span class="small">{row.fault}</span>
              </td>
              {(['expected', 'recorded', 'missing', 'double', 'unexpected'] as const).map((name) => (
                <td
                  key={name}
                  class={`num ${row[name] > 0 && name !== 'expected' && name !== 'recorded' ? 'bad-text' : ''}`}
                  data-name={name}
                >
                  {numberText(row[name])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {slots.length > 0 && (
        <>
          <h2>What does not add up</h2>
          <ul class="findings">
            {slots.map(({ job, slot, problem, count, reason }, index) => (
              <li key={`${slot} ${index}`}>
                <Pill text={problem} tone="bad" />{' '}
                {slot === null ? (
                  job
                ) : (
                  <a class="mono" href={href('runs', slot)}>
                    {slot}
                  </a>
                )}{' '}
                {count > 1 && `and ${numberText(count - 1)} more`} <span class="soft">{reason}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      <Pager
        first={after === undefined ? undefined : href('audit', undefined, filter)}
        next={next === null ? undefined : href('audit', undefined, { ...filter, after: next })}
        names={['First jobs', 'More jobs']}
      />
    </section>
  )
}
