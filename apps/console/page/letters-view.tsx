import { useState } from 'preact/hooks'
import type { LetterRowAnswer, LettersAnswer } from '../src/letter-answers.ts'
import { query as search } from './api.ts'
import { LetterChange, LetterChangeList } from './letter-changes.tsx'
import {
  filterCommand,
  instantOf,
  LetterFilter,
  type LetterQuery,
  readLetterQuery,
  selectionOf,
} from './letter-filter.tsx'
import { useLive } from './live.ts'
import { Command, Pager, Pill, Shown } from './parts.tsx'
import { href } from './route.ts'
import { countText, fromNowText, numberText } from './text.ts'

/** Rows of a page. One with fewer, and another after it, ended because it had looked through enough. */
const ROWS = 50

interface LettersProps {
  readonly query: URLSearchParams
  readonly role: string
}

export function LettersView({ query, role }: LettersProps) {
  const filter = readLetterQuery(query)
  const cursor = query.get('cursor') ?? undefined
  const { job, slot, error } = filter
  const live = useLive<LettersAnswer>(
    `/api/dead${search({ ...{ job, slot, error, cursor }, limit: String(ROWS), fromAt: instantOf(filter.from), toAt: instantOf(filter.to) })}`,
  )
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  const total = live.data?.total
  return (
    <>
      <div class="bar">
        <h1>Dead letters</h1>
        {total !== undefined && total !== null && <Pill text={`${numberText(total)} open`} />}
        <LetterFilter key={JSON.stringify(filter)} filter={filter} isFiltered={isFiltered} />
      </div>
      <LetterChangeList mayStop={role !== 'viewer'} />
      <Shown live={live}>
        {({ letters, now, next }) => (
          <>
            {letters.length === 0 && next === null ? (
              <p class="empty">{isFiltered ? 'No open dead letter is like that.' : 'No dead letter waits for you.'}</p>
            ) : (
              // What was ticked under one filter is not meant under another.
              <Letters
                key={JSON.stringify(filter)}
                {...{ letters, now, filter, isFiltered, role, total: total ?? null }}
                reload={live.reload}
              />
            )}
            {next !== null && letters.length < ROWS && (
              <p class="small soft">Few are like that: so far was looked through. “Older” looks on.</p>
            )}
            <Pager
              first={cursor === undefined ? undefined : href('dead', undefined, { ...filter })}
              next={next === null ? undefined : href('dead', undefined, { ...filter, cursor: next })}
            />
          </>
        )}
      </Shown>
      <p class="small soft">
        <Command text={filterCommand('list', filter)} />
      </p>
    </>
  )
}

interface ChoosingProps {
  readonly letters: readonly LetterRowAnswer[]
  readonly now: number
  readonly filter: LetterQuery
  readonly isFiltered: boolean
  readonly total: number | null
  readonly role: string
  readonly reload: () => void
}

/** The rows, and what is done with those that are ticked, or with all that the filter means. */
function Letters({ letters, now, filter, isFiltered, total, role, reload }: ChoosingProps) {
  const [ticked, setTicked] = useState<readonly string[]>([])
  const [all, setAll] = useState<'all' | 'ticked'>('ticked')
  if (role === 'viewer') return <LetterTable letters={letters} now={now} />
  const tick = (ids: readonly string[], isOn: boolean) => {
    setAll('ticked')
    setTicked((before) => [...before.filter((id) => !ids.includes(id)), ...(isOn ? ids : [])])
  }
  const isAll = all === 'all'
  const selection = isAll ? selectionOf(filter) : { ids: ticked }
  const isNone = !isAll && ticked.length === 0
  const name = isAll ? 'all that match' : countText(ticked.length, 'letter')
  return (
    <>
      <div class="bar choosing">
        <span class="small soft" role="status">
          {isNone ? 'Tick letters to redrive or discard them.' : `Chosen: ${name}.`}
        </span>
        {isFiltered && !isAll && (
          <button type="button" onClick={() => setAll('all')}>
            Choose all that match{total === null ? '' : ` (${numberText(total)})`}
          </button>
        )}
        {!isNone && (
          <button type="button" class="plain" onClick={() => tick(ticked, false)}>
            choose none
          </button>
        )}
      </div>
      {!isNone && (
        <LetterChange
          key={JSON.stringify(selection)}
          {...{ selection, name }}
          mayDiscard={role === 'admin' || (!isAll && ticked.length === 1)}
          onStarted={() => {
            tick(ticked, false)
            reload()
          }}
          onRefused={reload}
        />
      )}
      <LetterTable letters={letters} now={now} picks={{ ticked, tick }} />
    </>
  )
}

interface Picks {
  readonly ticked: readonly string[]
  readonly tick: (ids: readonly string[], isOn: boolean) => void
}

interface TableProps {
  readonly letters: readonly LetterRowAnswer[]
  readonly now: number
  /** Default: the rows are only read. */
  readonly picks?: Picks
}

export function LetterTable({ letters, now, picks }: TableProps) {
  const ids = letters.map(({ id }) => id)
  return (
    <table class="cards">
      <thead>
        <tr>
          {picks !== undefined && (
            <th class="pick">
              <input
                type="checkbox"
                aria-label="Tick this page"
                checked={ids.length > 0 && ids.every((id) => picks.ticked.includes(id))}
                onChange={(event) => picks.tick(ids, event.currentTarget.checked)}
              />
            </th>
          )}
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
            {picks !== undefined && (
              <td class="pick">
                <input
                  type="checkbox"
                  aria-label={`Tick ${letter.entity ?? 'the run itself'}`}
                  checked={picks.ticked.includes(letter.id)}
                  onChange={(event) => picks.tick([letter.id], event.currentTarget.checked)}
                />
              </td>
            )}
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
