import type { ActionAnswer, ActionsAnswer } from '../src/action-answers.ts'
import { query as search } from './api.ts'
import { textOf } from './form-text.ts'
import { TextField } from './job-actions.tsx'
import { useLive } from './live.ts'
import { useNow } from './now.ts'
import { Command, Pager, Pill, quoted, Shown } from './parts.tsx'
import { href, jobHref } from './route.ts'
import { fromNowText, numberText, utcText } from './text.ts'

/** Slots of a row that are named unasked. */
const NAMED = 3

/** What people changed: who, when, what, why, and what came of it. Newest first. */
export function ActionsSection({ query }: { query: URLSearchParams }) {
  const [job, slot, who, cursor] = ['job', 'slot', 'who', 'cursor'].map((each) => query.get(each) ?? undefined)
  const kept = Object.fromEntries(['hours', 'from', 'to'].map((each) => [each, query.get(each) ?? undefined]))
  const filter = { job, slot, who }
  const live = useLive<ActionsAnswer>(`/api/actions${search({ ...filter, cursor })}`, {})
  const apply = (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const values = { who: textOf(form, 'who').trim(), slot: textOf(form, 'slot').trim() }
    location.hash = href('audit', undefined, { ...kept, job, ...values })
  }
  const options = Object.entries(filter).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name} ${quoted(value)}`],
  )
  return (
    <section aria-label="Journal">
      <div class="bar">
        <h2>Journal of changes</h2>
        <Command text={['cronce actions', ...options].join(' ')} />
        <form class="filter" key={`${who} ${slot}`} onSubmit={apply}>
          <TextField name="who" label="Who" value={who ?? ''} size={12} />
          <TextField name="slot" label="Slot" value={slot ?? ''} size={20} />
          <button type="submit">Filter</button>
          {(who ?? slot) !== undefined && <a href={href('audit', undefined, { ...kept, job })}>all</a>}
        </form>
      </div>
      <Shown live={live}>
        {(answer) => (
          <>
            {answer.actions.length === 0 ? (
              <p class="empty">Nobody changed anything like that.</p>
            ) : (
              <Actions actions={answer.actions} toldAt={answer.now} />
            )}
            <Pager
              first={cursor === undefined ? undefined : href('audit', undefined, { ...kept, ...filter })}
              next={
                answer.next === null ? undefined : href('audit', undefined, { ...kept, ...filter, cursor: answer.next })
              }
            />
          </>
        )}
      </Shown>
    </section>
  )
}

function Actions({ actions, toldAt }: { actions: readonly ActionAnswer[]; toldAt: number }) {
  const now = useNow(toldAt)
  return (
    <table class="cards">
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">Who</th>
          <th scope="col">What</th>
          <th scope="col">Of</th>
          <th scope="col">Came to</th>
        </tr>
      </thead>
      <tbody>
        {actions.map((action) => (
          <ActionRow key={`${action.at} ${action.id}`} action={action} now={now} />
        ))}
      </tbody>
    </table>
  )
}

function ActionRow({ action, now }: { action: ActionAnswer; now: number }) {
  const { at, by, way, role, action: what, job, slots, moreSlots, selection, note, outcome, result, counts } = action
  const shown = slots.slice(0, NAMED)
  const more = slots.length - shown.length + moreSlots
  return (
    <tr>
      <td class="small" title={utcText(at)}>
        {fromNowText(at, now)}
        <div class="soft inst mono">{utcText(at)}</div>
      </td>
      <td>
        {by}
        <div class="soft small">
          {way}, {role}
        </div>
      </td>
      <td>
        <b>{what}</b>
        {note !== null && <div class="small">{note}</div>}
      </td>
      <td class="small">
        {job !== null && <a href={jobHref(job)}>{job}</a>}
        {shown.map((slot) => (
          <div key={slot}>
            <a class="mono" href={href('runs', slot)}>
              {slot}
            </a>
          </div>
        ))}
        {more > 0 && <div class="soft">and {numberText(more)} more</div>}
        {selection !== null && <div class="soft">{selection}</div>}
      </td>
      <td>
        <Pill text={outcome} tone={outcome === 'done' ? 'ok' : outcome === 'failed' ? 'bad' : 'warn'} />{' '}
        <span class="small">{result}</span>
        <div class="small soft">
          {Object.entries(counts)
            .map(([name, count]) => `${numberText(count)} ${name}`)
            .join(', ')}
        </div>
      </td>
    </tr>
  )
}
