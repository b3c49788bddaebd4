import type { JobAnswer } from '../src/answers.ts'
import { useNow } from './now.ts'
import { Pill } from './parts.tsx'
import { href } from './route.ts'
import { entitiesText, fromNowText, lengthText, utcText } from './text.ts'

/** How a job stands: what is overdue and why, what runs, whether it is paused, and what comes next. */
export function JobStanding({ job, now: toldAt }: { job: JobAnswer; now: number }) {
  const now = useNow(toldAt)
  const { overdue, running, next, pause, fault, gone } = job
  return (
    <div class="standing">
      {overdue.map((row) => (
        <div key={`${row.slot} ${row.kind}`} class="why">
          <Pill
            text={`${row.kind === 'start' ? 'not started' : 'not ended'}, overdue ${lengthText(row.sinceMs + now - toldAt)}`}
            tone="bad"
          />{' '}
          {row.reason}
          <div class="small">
            <a class="inst" href={href('runs', row.slot)}>
              due {row.local}
            </a>{' '}
            {row.local !== utcText(row.at) && <span class="inst">{utcText(row.at)}</span>}
            {row.count > 1 && `, and ${row.count - 1} more`}
          </div>
        </div>
      ))}
      {running !== null && (
        <div>
          <a href={href('runs', running.slot)}>
            <Pill text="running" />
          </a>{' '}
          <span class="small">{entitiesText(running.entities)}</span>
        </div>
      )}
      {fault !== '' && <div class="why small">this release cannot read its definition: {fault}</div>}
      {gone && <div class="soft small">removed: no live replica carries it</div>}
      {pause !== null && (
        <div class="small">
          <Pill text={pause.state} tone="warn" /> by {pause.by}
          {pause.note !== '' && `: ${pause.note}`}
          {pause.untilAt !== null && `, until ${utcText(pause.untilAt)}`}
        </div>
      )}
      {next !== null && (
        <div class="small">
          <Pill text={pause?.state === 'paused' ? 'next, if resumed' : 'next'} />{' '}
          <b class="num">{fromNowText(next.startsAt, now)}</b>
          <div class="soft num">
            <span class="inst">{next.local}</span>{' '}
            {next.local !== utcText(next.at) && <span class="inst">{utcText(next.at)}</span>}
          </div>
          {next.note !== null && <div class="warn-text">{next.note}</div>}
        </div>
      )}
    </div>
  )
}
