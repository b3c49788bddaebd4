import type { NextSlotsAnswer } from '../src/job-answers.ts'
import { pathOf, query as search } from './api.ts'
import { useLive } from './live.ts'
import { useNow } from './now.ts'
import { Command, Pager, quoted, Shown } from './parts.tsx'
import { jobHref } from './route.ts'
import { fromNowText, utcText } from './text.ts'

const COUNTS = ['20', '50', '100', '200'] as const

/** The slots to come, as the trigger computes them, with what clock changes make of them. */
export function JobNext({ name, query }: { name: string; query: URLSearchParams }) {
  const [count, from] = [query.get('count') ?? '20', query.get('from') ?? undefined]
  const live = useLive<NextSlotsAnswer>(`${pathOf('api', 'jobs', name, 'slots')}${search({ count, from })}`, {
    job: name,
  })
  return (
    <>
      <div class="bar">
        <h2>Next slots</h2>
        <Command text={`cronce next ${quoted(name)} --count ${count}`} />
        <span class="choices">
          {COUNTS.map((each) => (
            <a
              key={each}
              href={jobHref(name, 'next', { count: each, from })}
              aria-current={each === count ? 'true' : undefined}
            >
              {each}
            </a>
          ))}
        </span>
      </div>
      <Shown live={live}>{(answer) => <Slots answer={answer} name={name} count={count} from={from} />}</Shown>
    </>
  )
}

interface SlotsProps {
  readonly answer: NextSlotsAnswer
  readonly name: string
  readonly count: string
  readonly from: string | undefined
}

function Slots({ answer, name, count, from }: SlotsProps) {
  const { slots, zone, clockChanges, next } = answer
  const now = useNow(answer.now)
  const isSpread = slots.some(({ at, startsAt }) => at !== startsAt)
  return (
    <>
      {clockChanges.length > 0 && (
        <div class="notice">
          <b>Clock changes in {zone} within a year</b>
          <ul>
            {clockChanges.map(({ date, text }) => (
              <li key={`${date} ${text}`}>
                <span class="inst mono">{date}</span> {text}
              </li>
            ))}
          </ul>
        </div>
      )}
      {slots.length === 0 ? (
        <p class="empty">No slot comes any more.</p>
      ) : (
        <table class="cards">
          <thead>
            <tr>
              <th scope="col">In {zone}</th>
              <th scope="col">UTC</th>
              {isSpread && <th scope="col">Starts, by its spread</th>}
              <th scope="col">From now</th>
              <th scope="col">Note</th>
            </tr>
          </thead>
          <tbody>
            {slots.map((slot) => (
              <tr key={slot.slot} class={slot.note === null ? '' : 'noted'}>
                <td class="mono" title={slot.slot}>
                  {slot.local}
                </td>
                <td class="mono soft" data-name={zone === 'UTC' ? undefined : 'UTC'}>
                  {zone === 'UTC' ? 'the same' : utcText(slot.at)}
                </td>
                {isSpread && (
                  <td class="mono soft" data-name="starts">
                    {utcText(slot.startsAt)}
                  </td>
                )}
                <td class="small num-left">{fromNowText(slot.startsAt, now)}</td>
                <td class="small warn-text">{slot.note ?? ''}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Pager
        first={from === undefined ? undefined : jobHref(name, 'next', { count })}
        next={next === null ? undefined : jobHref(name, 'next', { count, from: String(next) })}
        names={['From now', 'Later']}
      />
    </>
  )
}
