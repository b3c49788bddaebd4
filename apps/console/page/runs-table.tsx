import type { RunAnswer } from '../src/answers.ts'
import { Pill } from './parts.tsx'
import { href } from './route.ts'
import { MARK_NAMES } from './strip.tsx'
import { entitiesText, fromNowText, lengthText, numberText, utcText } from './text.ts'

/** Runs and gaps, newest first, each with why. */
export function RunTable({ runs, now }: { runs: readonly RunAnswer[]; now: number }) {
  return (
    <table class="cards">
      <thead>
        <tr>
          <th scope="col">Slot</th>
          <th scope="col">State</th>
          <th scope="col">Due</th>
          <th scope="col" class="num">
            Late
          </th>
          <th scope="col" class="num">
            Took
          </th>
          <th scope="col">Entities</th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <RunRow key={run.slot} run={run} now={now} />
        ))}
      </tbody>
    </table>
  )
}

function RunRow({ run, now }: { run: RunAnswer; now: number }) {
  const { slot, state, mark, reason, why, cause, gap, at, local, latenessMs, durationMs, entities, by } = run
  return (
    <tr>
      <td>
        <a class="mono" href={href('runs', slot)}>
          {slot}
        </a>
        {gap !== null && gap.count > 1 && (
          <div class="soft small">
            and {numberText(gap.count - 1)} before it, from {utcText(gap.fromAt)}
          </div>
        )}
      </td>
      <td>
        <span class={`mark ${mark}`} aria-hidden="true" /> <Pill text={state} />{' '}
        {mark === 'late' && <span class="small">{MARK_NAMES.late}</span>}
        <div class="small soft">
          {[reason ?? '', why ?? '', cause === null || cause === 'on-time' ? '' : cause].filter(Boolean).join(' · ')}
        </div>
      </td>
      <td class="small" title={utcText(at)}>
        {fromNowText(at, now)}
        <div class="soft inst">{local}</div>
      </td>
      <td class="num" data-name="late">
        {latenessMs === null ? '–' : lengthText(latenessMs)}
      </td>
      <td class="num" data-name="took">
        {durationMs === null ? '–' : lengthText(durationMs)}
      </td>
      <td class="small">
        {entitiesText(entities)}
        {by !== null && <div class="soft">claimed by {by}</div>}
      </td>
    </tr>
  )
}
