import type { Mark, RunsAnswer } from '../src/answers.ts'
import type { FiguresAnswer, Spread } from '../src/job-answers.ts'
import { pathOf, query as search } from './api.ts'
import { FiguresChart } from './figures-chart.tsx'
import { textOf } from './form-text.ts'
import { useLive } from './live.ts'
import { Command, Facts, Pager, quoted, Shown } from './parts.tsx'
import { href, jobHref } from './route.ts'
import { RunTable } from './runs-table.tsx'
import { StateField } from './runs-view.tsx'
import { MARK_NAMES } from './strip.tsx'
import { lengthText, utcText } from './text.ts'

/** What the job did: its figures over time, and every slot, newest first. */
export function JobOverview({ name, query }: { name: string; query: URLSearchParams }) {
  const [state, cursor, before] = ['state', 'cursor', 'before'].map((each) => query.get(each) ?? undefined)
  const figures = useLive<FiguresAnswer>(
    `${pathOf('api', 'jobs', name, 'figures')}${search({ limit: '200', cursor: before })}`,
    { job: name },
  )
  return (
    <>
      <Shown live={figures}>
        {(answer) => <Figures answer={answer} name={name} query={query} isOlder={before !== undefined} />}
      </Shown>
      <Timeline name={name} state={state} cursor={cursor} before={before} />
    </>
  )
}

interface FiguresProps {
  readonly answer: FiguresAnswer
  readonly name: string
  readonly query: URLSearchParams
  readonly isOlder: boolean
}

function Figures({ answer, name, query, isOlder }: FiguresProps) {
  const { points, lateness, duration, fullest, marks, inGaps, older } = answer
  const values = { state: query.get('state') ?? undefined, cursor: query.get('cursor') ?? undefined }
  if (points.length === 0)
    return (
      <p class="empty">
        {inGaps === 0 ? 'No slot of it came due yet.' : `${inGaps} slots are in gaps; the list below has why.`}
      </p>
    )
  const counts = Object.entries(marks) as [Mark, number][]
  return (
    <section aria-label="Figures">
      <div class="bar">
        <h2>Lateness and duration</h2>
        <span class="soft small">
          {points.length} slots, {utcText(points[0]?.at ?? 0)} to {utcText(points.at(-1)?.at ?? 0)}
        </span>
        <nav class="choices" aria-label="Stretches of time">
          {isOlder && <a href={jobHref(name, '', values)}>Newest</a>}
          {older !== null && <a href={jobHref(name, '', { ...values, before: older })}>Older</a>}
        </nav>
      </div>
      <Facts
        facts={[
          ['Late', spreadText(lateness)],
          ['Took', spreadText(duration)],
          [
            'Fullest',
            fullest === null ? (
              ''
            ) : (
              <>
                <a href={href('runs', fullest.slot)}>{shareText(fullest.share)}</a> of the time to the following slot
              </>
            ),
          ],
          [
            'Outcomes',
            [
              ...counts.map(([mark, count]) => `${count} ${MARK_NAMES[mark]}`),
              ...(inGaps === 0 ? [] : [`${inGaps} in gaps`]),
            ].join(', '),
          ],
        ]}
      />
      <FiguresChart points={points} />
      <details>
        <summary>The same as a table</summary>
        <table class="cards">
          <thead>
            <tr>
              <th scope="col">Slot</th>
              <th scope="col">Outcome</th>
              <th scope="col" class="num">
                Late
              </th>
              <th scope="col" class="num">
                Took
              </th>
              <th scope="col" class="num">
                Of its interval
              </th>
            </tr>
          </thead>
          <tbody>
            {points.toReversed().map(({ slot, mark, latenessMs, durationMs, intervalMs }) => (
              <tr key={slot}>
                <td class="mono">
                  <a href={href('runs', slot)}>{slot}</a>
                </td>
                <td>{MARK_NAMES[mark]}</td>
                <td class="num" data-name="late">
                  {latenessMs === null ? '–' : lengthText(latenessMs)}
                </td>
                <td class="num" data-name="took">
                  {durationMs === null ? '–' : lengthText(durationMs)}
                </td>
                <td class="num" data-name="of its interval">
                  {durationMs === null || intervalMs === null ? '–' : shareText(durationMs / intervalMs)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </section>
  )
}

function spreadText(spread: Spread | null): string {
  if (spread === null) return ''
  const { p50, p95, most } = spread
  return `half within ${lengthText(p50)}, 95 % within ${lengthText(p95)}, at most ${lengthText(most)}`
}

function shareText(share: number): string {
  return share > 0 && share < 0.01 ? 'under 1 %' : `${Math.round(share * 100)} %`
}

interface TimelineProps {
  readonly name: string
  readonly state: string | undefined
  readonly cursor: string | undefined
  readonly before: string | undefined
}

function Timeline({ name, state, cursor, before }: TimelineProps) {
  const live = useLive<RunsAnswer>(`/api/runs${search({ job: name, state, cursor, limit: '25' })}`, { job: name })
  const apply = (event: Event) => {
    const form = new FormData((event.currentTarget as HTMLFormElement) ?? undefined)
    location.hash = jobHref(name, '', { before, state: textOf(form, 'state') })
  }
  return (
    <section aria-label="Slots">
      <div class="bar">
        <h2>Slots</h2>
        <Command text={`cronce runs --job ${quoted(name)}${state === undefined ? '' : ` --state ${state}`}`} />
        <form class="filter" key={state} onChange={apply} onSubmit={(event) => event.preventDefault()}>
          <StateField state={state} />
        </form>
      </div>
      <Shown live={live}>
        {({ runs, now, next }) => (
          <>
            {runs.length === 0 ? <p class="empty">No slot is like that.</p> : <RunTable runs={runs} now={now} />}
            <Pager
              first={cursor === undefined ? undefined : jobHref(name, '', { before, state })}
              next={next === null ? undefined : jobHref(name, '', { before, state, cursor: next })}
            />
          </>
        )}
      </Shown>
    </section>
  )
}
