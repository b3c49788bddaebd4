import type { LetterRowAnswer, LettersAnswer } from '../src/answers.ts'
import { query as search } from './api.ts'
import { textOf } from './form-text.ts'
import { useLive } from './live.ts'
import { Pager, Pill, Shown } from './parts.tsx'
import { href } from './route.ts'
import { fromNowText, numberText } from './text.ts'

export function LettersView({ query }: { query: URLSearchParams }) {
  const [job, slot, error, cursor] = ['job', 'slot', 'error', 'cursor'].map((name) => query.get(name) ?? undefined)
  const filter = { job, slot, error }
  const live = useLive<LettersAnswer>(`/api/dead${search({ ...filter, cursor })}`)
  const apply = (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    location.hash = href('dead', undefined, { slot, job: textOf(form, 'job'), error: textOf(form, 'error') })
  }
  const isFiltered = (job ?? slot ?? error) !== undefined
  return (
    <>
      <div class="bar">
        <h1>Dead letters</h1>
        {live.data !== undefined && live.data.total !== null && <Pill text={`${numberText(live.data.total)} open`} />}
        {slot !== undefined && <span class="mono small">of {slot}</span>}
        <form class="filter" key={`${job} ${error}`} onSubmit={apply}>
          <label>
            Job <input name="job" value={job ?? ''} />
          </label>
          <label>
            Error contains <input name="error" value={error ?? ''} />
          </label>
          <button type="submit">Filter</button>
          {isFiltered && <a href={href('dead')}>all</a>}
        </form>
      </div>
      <Shown live={live}>
        {({ letters, now, next }) => (
          <>
            {letters.length === 0 ? (
              <p class="empty">{isFiltered ? 'No open dead letter is like that.' : 'No dead letter waits for you.'}</p>
            ) : (
              <LetterTable letters={letters} now={now} />
            )}
            <Pager
              first={cursor === undefined ? undefined : href('dead', undefined, filter)}
              next={next === null ? undefined : href('dead', undefined, { ...filter, cursor: next })}
            />
          </>
        )}
      </Shown>
    </>
  )
}

export function LetterTable({ letters, now }: { letters: readonly LetterRowAnswer[]; now: number }) {
  return (
    <table class="cards">
      <thead>
        <tr>
          <th>Entity</th>
          <th>Run</th>
          <th>Error</th>
          <th class="num">Attempts</th>
          <th>Died</th>
        </tr>
      </thead>
      <tbody>
        {letters.map((letter) => (
          <tr key={letter.id}>
            <td>
              <a class="name" href={href('dead', letter.id)}>
                {letter.entity ?? 'the run itself'}
              </a>
            </td>
            <td class="mono small">{letter.slot}</td>
            <td class="error">
              <Pill text={letter.reason} tone="warn" />{' '}
              {letter.error !== null && `${letter.error.name}: ${letter.error.message.slice(0, 300)}`}
            </td>
            <td class="num" data-name="attempts">
              {letter.attempts}
            </td>
            <td class="small">{fromNowText(letter.at, now)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
