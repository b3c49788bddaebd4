import { useState } from 'preact/hooks'
import type { BackfillAnswer, BackfillPlanAnswer, BackfillsAnswer } from '../src/job-answers.ts'
import { pathOf, query as search } from './api.ts'
import { useChange } from './change.ts'
import { textOf } from './form-text.ts'
import { TextField } from './job-actions.tsx'
import { useLive } from './live.ts'
import { Command, Facts, Failure, Pill, quoted, Shown } from './parts.tsx'
import { href, jobHref } from './route.ts'
import { countText, lengthText, numberText, utcText } from './text.ts'

const DAY_MS = 86_400_000

/** How often its progress is asked for: the console runs it, and no stream tells of it, ms. */
const PROGRESS_MS = 1_000

interface BackfillProps {
  readonly name: string
  readonly query: URLSearchParams
  readonly role: string
}

/** Runs the slots of a range that never ran: the range, what it comes to, how fast, and how far it is. */
export function JobBackfill({ name, query, role }: BackfillProps) {
  const live = useLive<BackfillsAnswer>(pathOf('api', 'jobs', name, 'backfill'), { job: name, everyMs: PROGRESS_MS })
  const [from, to, rate] = ['from', 'to', 'rate'].map((each) => query.get(each) ?? '') as [string, string, string]
  const isUnderWay = ['running', 'stopping'].includes(live.data?.backfill?.state ?? '')
  return (
    <>
      <h2>Backfill a range</h2>
      <p class="soft">
        Runs the slots of a range that were missed, skipped or never came due, oldest first, one after another, through
        the same claim as any slot: what has run is not run again. It can be stopped and gone on with at any time.
      </p>
      <Shown live={live}>
        {({ backfill, now }) => (
          <>
            {backfill !== null && <Progress backfill={backfill} name={name} reload={live.reload} role={role} />}
            <RangeForm key={`${from} ${to} ${rate}`} name={name} from={from} to={to} rate={rate} now={now} />
          </>
        )}
      </Shown>
      {from !== '' && to !== '' && !isUnderWay && <Preview {...{ name, from, to, rate, role }} reload={live.reload} />}
    </>
  )
}

interface Range {
  readonly name: string
  readonly from: string
  readonly to: string
  readonly rate: string
}

/** The range goes into the address: it can be passed on, and outlives a console that is started anew. */
function RangeForm({ name, from, to, rate, now }: Range & { now: number }) {
  const today = Math.floor(now / DAY_MS) * DAY_MS
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const [first, last, speed] = ['from', 'to', 'rate'].map((each) => textOf(form, each).trim())
    location.hash = jobHref(name, 'backfill', { from: first, to: last, rate: speed })
  }
  return (
    <form class="act-form panel" onSubmit={submit}>
      <TextField name="from" label="From" value={from || dayOf(today - 7 * DAY_MS)} size={22} />
      <TextField name="to" label="To, without it" value={to || dayOf(today)} size={22} />
      <TextField name="rate" label="At most" value={rate} placeholder="2/min; empty: no limit" size={18} />
      <button type="submit">See what it comes to</button>
      <span class="soft small">
        UTC days, or instants such as <code>2026-11-01T12:00Z</code>
      </span>
    </form>
  )
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

interface PreviewProps extends Range {
  readonly role: string
  readonly reload: () => void
}

function Preview({ name, from, to, rate, role, reload }: PreviewProps) {
  const preview = useLive<BackfillPlanAnswer>(
    `${pathOf('api', 'jobs', name, 'backfill', 'preview')}${search({ from, to })}`,
    {
      job: name,
    },
  )
  const { state, error, send } = useChange(() => {
    reload()
    preview.reload()
  })
  const [note, setNote] = useState('')
  const start = (expected: number) =>
    send(pathOf('api', 'jobs', name, 'backfill'), {
      ...{ from, to, expected },
      ...(rate === '' ? {} : { rate }),
      ...(note.trim() === '' ? {} : { note: note.trim() }),
    })
  return (
    <section class="panel" aria-label="Preview">
      <Shown live={preview}>
        {(plan) => (
          <>
            <PlanText plan={plan} />
            {plan.first.length > 0 && (
              <details>
                <summary>{plan.first.length < plan.toRun ? `The first ${plan.first.length} of them` : 'Which'}</summary>
                <ul class="slots-list mono small">
                  {plan.first.map((slot) => (
                    <li key={slot}>{slot}</li>
                  ))}
                </ul>
              </details>
            )}
            {role === 'viewer' ? (
              <p class="soft small">To run them needs the role operator.</p>
            ) : (
              <div class="act-form">
                <TextField name="why" label="Why" placeholder="kept with the runs" onText={setNote} />
                <button
                  type="button"
                  class="main"
                  disabled={plan.toRun === 0 || state === 'sending'}
                  onClick={() => start(plan.toRun)}
                >
                  Run {countText(plan.toRun, 'slot')}
                </button>
              </div>
            )}
          </>
        )}
      </Shown>
      {error !== undefined && <Failure error={error} />}
      <p class="small soft">
        <Command
          text={`cronce backfill ${quoted(name)} --from ${quoted(from)} --to ${quoted(to)}${rate === '' ? '' : ` --rate ${quoted(rate)}`}`}
        />
      </p>
    </section>
  )
}

function PlanText({ plan }: { plan: BackfillPlanAnswer }) {
  const { slots, toRun, done, underWay, refused, fromAt, toAt } = plan
  return (
    <Facts
      facts={[
        ['Range', `${utcText(fromAt)} to ${utcText(toAt)}`],
        ['Slots in it', numberText(slots)],
        ['To run', <b key="run">{numberText(toRun)}</b>],
        ['Done already', numberText(done)],
        ['On their way', underWay === 0 ? '' : numberText(underWay)],
        ['Do not run', refused.map(({ reason, count }) => `${numberText(count)}: ${reason}`).join('; ')],
      ]}
    />
  )
}

interface ProgressProps {
  readonly backfill: BackfillAnswer
  readonly name: string
  readonly role: string
  readonly reload: () => void
}

function Progress({ backfill, name, role, reload }: ProgressProps) {
  const { plan, state, ended, total, slot, standing, by, why, ran, elsewhere, error, startedAt, endedAt } = backfill
  const change = useChange(reload)
  const isUnderWay = state === 'running' || state === 'stopping'
  const results = [
    ...Object.entries(ran).map(([outcome, count]) => `${numberText(count)} ${outcome}`),
    ...(elsewhere === 0 ? [] : [`${numberText(elsewhere)} taken by others`]),
  ]
  const left = total - ended
  return (
    <section class="panel" aria-label="Progress">
      <div class="progress">
        <Pill text={state} tone={isUnderWay ? 'run' : state === 'ended' ? 'ok' : state === 'failed' ? 'bad' : 'warn'} />
        <progress max={Math.max(1, total)} value={total === 0 ? 1 : ended} aria-label="Slots that have ended" />
        <span class="num">
          {numberText(ended)} of {countText(total, 'slot')}
        </span>
        {state === 'running' && role !== 'viewer' && (
          <button type="button" onClick={() => change.send(pathOf('api', 'jobs', name, 'backfill', 'stop'), {})}>
            Stop
          </button>
        )}
      </div>
      {isUnderWay && slot !== null && (
        <p class="small">
          <a class="mono" href={href('runs', slot)}>
            {slot}
          </a>{' '}
          {standing}
        </p>
      )}
      <p class="small soft">
        {utcText(plan.fromAt)} to {utcText(plan.toAt)}, by {by}
        {why !== null && `: ${why}`}
        {endedAt !== null && `; ${lengthText(endedAt - startedAt)}`}
        {results.length > 0 && `; ${results.join(', ')}`}
      </p>
      {error !== null && <p class="failure">{error}</p>}
      {!isUnderWay && left > 0 && (
        <p>
          {countText(left, 'slot')} left.{' '}
          <a href={jobHref(name, 'backfill', { from: instantText(plan.fromAt), to: instantText(plan.toAt) })}>
            Go on with the same range
          </a>
        </p>
      )}
      {change.error !== undefined && <Failure error={change.error} />}
    </section>
  )
}

/** As the form takes it. */
function instantText(at: number): string {
  return new Date(at).toISOString().replace(/T00:00:00\.000Z$/, '')
}
