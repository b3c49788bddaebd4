import type { EventAnswer, RunDetailsAnswer } from '../src/answers.ts'
import { pathOf } from './api.ts'
import { LetterTable } from './letters-view.tsx'
import { useLive } from './live.ts'
import { Id, Pill, Shown } from './parts.tsx'
import { href } from './route.ts'
import { entitiesText, lengthText, utcText } from './text.ts'

export function RunView({ slot }: { slot: string }) {
  const live = useLive<RunDetailsAnswer>(pathOf('api', 'runs', slot))
  return (
    <>
      <div class="bar">
        <h1>Run</h1>
        <Id text={slot} />
      </div>
      <Shown live={live}>{(details) => <Details {...details} />}</Shown>
    </>
  )
}

function Details({ run, record, events, deadLetters, zone, now }: RunDetailsAnswer) {
  const { entities, job, state, reason, why, cause, by, release, latenessMs, durationMs, local, at } = run
  const { planned, done, dead, abandoned, skipped } = entities
  const settled = done + dead + abandoned + skipped
  const facts: readonly (readonly [string, string])[] = [
    ['Due', local === utcText(at) ? local : `${local} ${zone} · ${utcText(at)}`],
    ['Why it ran', [cause ?? '', why ?? ''].filter(Boolean).join(': ')],
    ['Why not', reason ?? ''],
    ['Claimed by', [by ?? '', release ?? ''].filter(Boolean).join(', release ')],
    ['Started by', record?.startedBy ?? ''],
    ['Late', latenessMs === null ? '' : lengthText(latenessMs)],
    ['Took', durationMs === null ? '' : lengthText(durationMs)],
    ['Entities', entitiesText(entities)],
    ['Starts', record === null || record.starts <= 1 ? '' : `${record.starts}, ${record.crashes} of them crashed`],
    ['Retries', record === null || record.retries === 0 ? '' : String(record.retries)],
  ]
  return (
    <>
      <p>
        <Pill text={state} /> of <a href={href('runs', undefined, { job })}>{job}</a>
      </p>
      {planned > 0 && (
        <div class="progress">
          <progress max={planned} value={settled} aria-label="Entities with an outcome" />
          <span class="small num">{Math.floor((100 * settled) / planned)} %</span>
        </div>
      )}
      <dl class="facts">
        {facts
          .filter(([, value]) => value !== '')
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      <p class="small soft">
        Log lines of this run carry the slot key; <Id text={`cronce show '${run.slot}'`} />
      </p>
      {deadLetters.length > 0 && (
        <>
          <h2>
            Open dead letters <a href={href('dead', undefined, { slot: run.slot })}>all of this run</a>
          </h2>
          <LetterTable letters={deadLetters} now={now} />
        </>
      )}
      <h2>What happened</h2>
      <ol class="timeline">
        {events.map((event, index) => (
          <Event key={`${event.at} ${index}`} event={event} before={events[index - 1]} />
        ))}
      </ol>
    </>
  )
}

function Event({ event, before }: { event: EventAnswer; before: EventAnswer | undefined }) {
  const detail = Object.entries(event.detail).filter(([, value]) => value !== '')
  return (
    <li>
      <span class="mono soft">{utcText(event.at)}</span>
      <span class="soft small num">
        {before === undefined ? '' : `+${lengthText(Math.max(0, event.at - before.at))}`}
      </span>
      <span>
        <b>{event.event}</b>{' '}
        <span class="small soft">{detail.map(([name, value]) => `${name} ${value}`).join(', ')}</span>
      </span>
    </li>
  )
}
