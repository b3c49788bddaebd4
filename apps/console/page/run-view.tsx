import type { ChunksAnswer, EventAnswer, RunDetailsAnswer } from '../src/answers.ts'
import { pathOf } from './api.ts'
import { LetterTable } from './letters-view.tsx'
import { useLive } from './live.ts'
import { useNow } from './now.ts'
import { Command, Copy, Facts, Id, Pill, quoted, Shown } from './parts.tsx'
import { href, jobHref } from './route.ts'
import { MARK_NAMES } from './strip.tsx'
import { countText, entitiesText, exactText, fromNowText, lengthText, numberText, utcText } from './text.ts'

const UNDER_WAY = ['due', 'claimed', 'enqueued', 'running']

/** States that `trigger --slot` runs; one that has ended is walked again only by force. */
const NEVER_RAN = ['missed', 'skipped']

export function RunView({ slot, mayChange }: { slot: string; mayChange: boolean }) {
  const job = slot.slice(0, slot.lastIndexOf('@'))
  const live = useLive<RunDetailsAnswer>(pathOf('api', 'runs', slot), { job: job === '' ? undefined : job })
  return (
    <>
      <div class="bar">
        <h1>Run</h1>
        <Id text={slot} command={`cronce show ${quoted(slot)}`} />
      </div>
      <Shown live={live}>{(details) => <Details details={details} mayChange={mayChange} />}</Shown>
    </>
  )
}

function Details({ details, mayChange }: { details: RunDetailsAnswer; mayChange: boolean }) {
  const { run, events, deadLetters, chunks, isByHand } = details
  const now = useNow(details.now)
  const { job, state, mark, slot } = run
  return (
    <>
      <p class="lead">
        <span class={`mark ${mark}`} aria-hidden="true" /> <Pill text={state} />{' '}
        {mark === 'late' && <span>{MARK_NAMES.late} </span>}
        {isByHand && (
          <>
            <Pill text="by hand, beside the schedule" />{' '}
          </>
        )}
        <span class="soft">of</span> <a href={jobHref(job)}>{job}</a>
        {mayChange && NEVER_RAN.includes(state) && (
          <>
            {' '}
            · <a href={jobHref(job, '', { slot })}>run this slot</a>
          </>
        )}
        {mayChange && ['partial', 'failed', 'abandoned'].includes(state) && (
          <>
            {' '}
            · <a href={href('dead', undefined, { slot })}>redrive what died</a>
          </>
        )}
      </p>
      <EntityProgress details={details} />
      <RunFacts details={details} now={now} />
      {chunks !== null && <Chunks chunks={chunks} chunkNow={now} isUnderWay={UNDER_WAY.includes(state)} />}
      {deadLetters.length > 0 && (
        <>
          <h2>
            Entities that failed{' '}
            <a href={href('dead', undefined, { slot })}>
              all {numberText(Math.max(run.entities.dead + run.entities.abandoned, deadLetters.length))} of this run
            </a>
          </h2>
          <LetterTable letters={deadLetters} now={now} />
        </>
      )}
      <h2>What happened</h2>
      {events.length === 0 ? (
        <p class="empty">Nothing of it is kept any more.</p>
      ) : (
        <ol class="timeline">
          {events.map((event, index) => (
            <Event key={`${event.at} ${index}`} event={event} before={events[index - 1]} />
          ))}
        </ol>
      )}
      <LogKeys slot={slot} trace={details.trace} />
    </>
  )
}

function EntityProgress({ details: { run } }: { details: RunDetailsAnswer }) {
  const { planned, done, dead, abandoned, skipped } = run.entities
  if (planned === 0) return null
  const settled = done + dead + abandoned + skipped
  return (
    <div class="progress">
      <progress max={planned} value={settled} aria-label="Entities with an outcome" />
      <span class="small num">
        {Math.floor((100 * settled) / planned)} % · {entitiesText(run.entities)}
      </span>
    </div>
  )
}

function RunFacts({ details, now }: { details: RunDetailsAnswer; now: number }) {
  const { run, record, zone } = details
  const { local, at, cause, why, reason, by, release, latenessMs, durationMs, gap, entities } = run
  const tookMs = durationMs ?? (run.state === 'running' && record?.startedAt != null ? now - record.startedAt : null)
  return (
    <Facts
      facts={[
        ['Due', local === utcText(at) ? local : `${local} in ${zone} · ${utcText(at)}`],
        ['Cause', cause ?? ''],
        ['Why', why ?? ''],
        [['skipped', 'missed'].includes(run.state) ? 'Why it did not run' : 'Reason', reason ?? ''],
        ['Claimed by', by === null ? '' : `${by}${release === null || release === '' ? '' : `, release ${release}`}`],
        ['Claimed', instantText(record?.claimedAt)],
        ['On the queue', instantText(record?.enqueuedAt)],
        ['Started', record?.startedAt == null ? '' : `${exactText(record.startedAt)}${byText(record.startedBy)}`],
        ['Late', latenessMs === null ? '' : lengthText(latenessMs)],
        [durationMs === null ? 'Runs for' : 'Took', tookMs === null ? '' : lengthText(Math.max(0, tookMs))],
        ['Claims', record === null || record.claims <= 1 ? '' : `${record.claims}: a replica died holding it`],
        ['Starts', record === null || record.starts <= 1 ? '' : String(record.starts)],
        ['Crashes', record === null || record.crashes === 0 ? '' : `${record.crashes} workers died with a part of it`],
        ['Retries', record === null || record.retries === 0 ? '' : numberText(record.retries)],
        ['Named twice', entities.duplicates === 0 ? '' : `${countText(entities.duplicates, 'entity')} by the source`],
        ['Outcomes', record === null || record.version <= 1 ? '' : `${record.version}: a redrive made newer ones`],
        [
          'Stands for',
          gap === null
            ? ''
            : `${countText(gap.count, 'slot')}, ${utcText(gap.fromAt)} to ${utcText(gap.toAt)}, one reason`,
        ],
      ]}
    />
  )
}

function instantText(at: number | null | undefined): string {
  return at == null ? '' : exactText(at)
}

function byText(by: string | null): string {
  return by === null || by === '' ? '' : ` by ${by}`
}

function Chunks({ chunks, chunkNow, isUnderWay }: { chunks: ChunksAnswer; chunkNow: number; isUnderWay: boolean }) {
  const { written, closed, plan, open, openCount } = chunks
  const names = { complete: 'the plan is complete', failed: 'the plan failed', 'under-way': 'the source is still read' }
  if (written === 0 && !isUnderWay) return null
  return (
    <section aria-label="Chunks">
      <h2>Chunks</h2>
      <div class="progress">
        <progress max={Math.max(1, written)} value={closed} aria-label="Chunks that have closed" />
        <span class="small num">
          {numberText(closed)} of {numberText(written)} closed; {names[plan]}
        </span>
      </div>
      {open.length > 0 && (
        <table class="cards">
          <thead>
            <tr>
              <th scope="col">Chunk</th>
              <th scope="col">Held by</th>
              <th scope="col" class="num">
                Done
              </th>
              <th scope="col" class="num">
                Crashes
              </th>
              <th scope="col">Heard of</th>
            </tr>
          </thead>
          <tbody>
            {open.map(({ number, worker, entities, left, crashes, heardAt }) => (
              <tr key={number}>
                <td class="num-left">
                  <b>{number}</b>
                </td>
                <td>{worker ?? <span class="soft">nobody yet</span>}</td>
                <td class="num" data-name="done">
                  {numberText(entities - left)} of {numberText(entities)}
                </td>
                <td class={`num ${crashes > 0 ? 'bad-text' : ''}`} data-name="crashes">
                  {crashes}
                </td>
                <td class="small">{fromNowText(heardAt, chunkNow)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {openCount > open.length && (
        <p class="soft small">and {numberText(openCount - open.length)} more that are open</p>
      )}
    </section>
  )
}

/** What log lines of this run have in common: every one that is about it carries the whole slot key. */
function LogKeys({ slot, trace }: { slot: string; trace: RunDetailsAnswer['trace'] }) {
  return (
    <section aria-label="Logs">
      <h2>In the logs</h2>
      <p class="small soft">
        Every line about it, of whichever replica or worker, has <code>slot</code>; lines of a chunk have{' '}
        <code>chunk</code> and of an entity <code>entity</code> besides.
      </p>
      <p class="small">
        <Command text={`grep -F ${quoted(`"slot":"${slot}"`)}`} />
      </p>
      <p class="small">
        <Command text={`jq -c ${quoted(`select(.slot == "${slot}")`)}`} />
      </p>
      {trace !== null && (
        <p class="small">
          Its trace, from the claim to every chunk: <code>{trace.id}</code> <Copy text={trace.id} />{' '}
          {trace.url !== null && (
            <a href={trace.url} target="_blank" rel="noreferrer">
              open
            </a>
          )}
        </p>
      )}
    </section>
  )
}

function Event({ event, before }: { event: EventAnswer; before: EventAnswer | undefined }) {
  const detail = Object.entries(event.detail).filter(([, value]) => value !== '')
  return (
    <li class={EVENT_TONES[event.event] ?? ''}>
      <span class="mono soft inst">{exactText(event.at)}</span>
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

const EVENT_TONES: Readonly<Record<string, string>> = {
  crashed: 'bad',
  failed: 'bad',
  abandoned: 'bad',
  missed: 'bad',
  partial: 'warn',
  succeeded: 'ok',
}
