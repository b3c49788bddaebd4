import { type RunDetails, shellWord, showRun } from '@cronce/operations'
import type { SlotEvent } from '@cronce/store'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { deadLetterJson } from '../json/dead-letter-json.ts'
import { pauseJson } from '../json/pause-json.ts'
import { runJson } from '../json/run-json.ts'
import { withService } from '../service-connection.ts'
import { wrap } from '../text/display-width.ts'
import { isoText, zonedText } from '../text/instant-text.ts'
import { pauseText } from '../text/pause-text.ts'
import { printable } from '../text/printable.ts'
import { causeText, durationCell, entitiesText } from '../text/run-text.ts'
import { table } from '../text/table.ts'

/** `show`: everything that is known of one slot. */
export async function show(context: Context, slot: string): Promise<Answer> {
  const details = await withService(context, ({ store }) => showRun(store, slot))
  return {
    json: detailsJson(details),
    text: () => [...head(details, context), ...timeline(details, context), ...dead(details, context)],
  }
}

function detailsJson({ run, record, events, deadLetters, pause }: RunDetails): Answer['json'] {
  return {
    ...runJson(run),
    why: run.why ?? null,
    starts: record?.starts ?? 0,
    crashes: record?.crashes ?? 0,
    retries: record?.retries ?? 0,
    traceId: record?.traceId ?? null,
    paused: pause === undefined ? null : pauseJson(pause),
    events: events.map(({ at, event, detail }) => ({ at: isoText(at), event, ...detail })),
    dead: deadLetters.map(deadLetterJson),
  }
}

function head({ run, record, schedule, pause }: RunDetails, { terminal }: Context): string[] {
  const zone = schedule?.kind === 'cron' ? schedule.zone : 'UTC'
  const { at, effectiveAt, state, gap } = run
  const facts = [
    `${zonedText(at, zone)} = ${isoText(at).replace('.000Z', 'Z')}`,
    effectiveAt === at ? '' : `starts ${zonedText(effectiveAt, zone)} (spread)`,
    [state, run.cause === undefined ? '' : causeText(run.cause), entitiesText(run)]
      .filter((each) => each !== '' && each !== '-')
      .join('   '),
    gap === undefined ? '' : `one of ${gap.count} slots after ${isoText(gap.fromAt)} until ${isoText(gap.toAt)}`,
    run.why === undefined ? '' : `why: ${run.why}`,
    record?.traceId === undefined ? '' : `trace ${record.traceId}`,
    pause === undefined ? '' : `its job is ${pauseText(pause)}`,
    record === undefined
      ? ''
      : `late ${durationCell(run.latenessMs)}   took ${durationCell(run.durationMs)}   crashes ${record.crashes}   retries ${record.retries}`,
  ]
  const lines = facts.filter((fact) => fact !== '').flatMap((fact) => wrap(printable(fact), terminal.width - 3))
  return [` ${printable(run.slot)}`, ...lines.map((line) => `   ${line}`)]
}

function timeline({ events }: RunDetails, { terminal }: Context): string[] {
  return table({
    columns: [{ title: 'event' }, { title: 'at' }, { title: 'detail' }],
    rows: events.map((event) => [event.event, isoText(event.at).slice(11), detailText(event)]),
    width: terminal.width,
    paint: terminal.paint,
    titles: 'hidden',
  })
}

function detailText({ detail }: SlotEvent): string {
  const { by, release, reason, ...rest } = detail
  const who = [by, release === undefined || release === '' ? undefined : `(release ${release})`].filter(
    (each) => each !== undefined && each !== '',
  )
  const others = Object.entries(rest).map(([name, value]) => `${name} ${value}`)
  return [...who, ...(reason === undefined ? [] : [reason]), ...others].join(' ')
}

function dead({ deadLetters }: RunDetails, { terminal }: Context): string[] {
  if (deadLetters.length === 0) return []
  const lines = deadLetters.flatMap(({ id, entity, error, reason, attempts }) => {
    const what = error === undefined ? reason : `${error.name}: ${error.message}`
    const text = `dead  ${entity ?? 'the run'}  ${what} (${attempts} attempts)`
    return [
      ...wrap(printable(text), terminal.width - 3).map((line, index) => (index === 0 ? ` ${line}` : `   ${line}`)),
      `   cronce dead show ${shellWord(printable(id))}`,
    ]
  })
  return lines
}
