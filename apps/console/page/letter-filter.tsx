import { textOf } from './form-text.ts'
import { quoted } from './parts.tsx'
import { href } from './route.ts'

/** Which dead letters a view shows; times as they are typed, in UTC. */
export interface LetterQuery {
  readonly job: string | undefined
  readonly slot: string | undefined
  readonly error: string | undefined
  readonly from: string | undefined
  readonly to: string | undefined
}

const NAMES = ['job', 'slot', 'error', 'from', 'to'] as const

export function readLetterQuery(query: URLSearchParams): LetterQuery {
  const [job, slot, error, from, to] = NAMES.map((name) => query.get(name) ?? undefined)
  return { job, slot, error, from, to }
}

/** A typed time as the API takes it; undefined where it is none. */
export function instantOf(typed: string | undefined): string | undefined {
  const at = typed === undefined ? Number.NaN : Date.parse(`${typed}Z`)
  return Number.isNaN(at) ? undefined : String(at)
}

/** What a change is asked for, where all that match are meant. */
export function selectionOf({ from, to, ...texts }: LetterQuery): object {
  const [fromAt, toAt] = [from, to].map((typed) =>
    instantOf(typed) === undefined ? undefined : Number(instantOf(typed)),
  )
  return Object.fromEntries(Object.entries({ ...texts, fromAt, toAt }).filter(([, value]) => value !== undefined))
}

/** The command that means the same. */
export function filterCommand(verb: string, filter: LetterQuery): string {
  const options = NAMES.flatMap((name) => {
    const value = filter[name]
    if (value === undefined) return []
    return [`--${name} ${quoted(name === 'from' || name === 'to' ? `${value}Z` : value)}`]
  })
  return [`cronce dead ${verb}`, ...options].join(' ')
}

export function LetterFilter({ filter, isFiltered }: { filter: LetterQuery; isFiltered: boolean }) {
  const apply = (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    location.hash = href('dead', undefined, Object.fromEntries(NAMES.map((name) => [name, textOf(form, name).trim()])))
  }
  return (
    <form class="filter" onSubmit={apply}>
      <label>
        Job <input name="job" size={14} value={filter.job ?? ''} />
      </label>
      <label>
        Run <input name="slot" size={22} value={filter.slot ?? ''} />
      </label>
      <label>
        Error contains <input name="error" size={16} value={filter.error ?? ''} />
      </label>
      <label>
        Died from (UTC) <input name="from" type="datetime-local" value={filter.from ?? ''} />
      </label>
      <label>
        before <input name="to" type="datetime-local" value={filter.to ?? ''} />
      </label>
      <button type="submit">Filter</button>
      {isFiltered && <a href={href('dead')}>all</a>}
    </form>
  )
}
