import { type GenerationRow, type JobEvent, type JobHistory, jobHistory } from '@cronce/operations'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { pauseJson } from '../json/pause-json.ts'
import { withService } from '../service-connection.ts'
import { settingsJson } from '../text/definition-text.ts'
import { wrap } from '../text/display-width.ts'
import { isoOrNull, isoText, utcText } from '../text/instant-text.ts'
import { pauseText } from '../text/pause-text.ts'
import { printable } from '../text/printable.ts'
import { describeSchedule } from '../text/schedule-text.ts'
import { table } from '../text/table.ts'

/** `jobs <job>`: its definition, the generations it had, and what was done to it. */
export async function job(context: Context, name: string): Promise<Answer> {
  const history = await withService(context, ({ store }) => jobHistory(store, name))
  return {
    json: historyJson(history),
    text: () => [...head(history, context), ...generations(history, context), ...events(history, context)],
  }
}

function historyJson({ stored, settings, fault, generations: rows, events: found }: JobHistory): Answer['json'] {
  return {
    job: stored.name,
    dynamic: stored.dynamic,
    generation: stored.generation,
    image: stored.image,
    registered: isoText(stored.registeredAt),
    gone: isoOrNull(stored.goneAt),
    renamedTo: stored.renamedTo ?? null,
    paused: stored.pause === undefined ? null : pauseJson(stored.pause),
    fault: fault === '' ? null : fault,
    definition: settings === undefined ? null : settingsJson(settings),
    generations: rows.map(generationJson),
    events: found.map(({ at, event, by, note, image }) => ({ at: isoText(at), event, by, note, image: image ?? null })),
  }
}

function generationJson({ generation, sinceAt, untilAt, by, image, schedule }: GenerationRow): Answer['json'] {
  return {
    ...{ generation, since: isoText(sinceAt), until: isoOrNull(untilAt), by, image },
    schedule: schedule === undefined ? null : describeSchedule(schedule),
  }
}

function head({ stored, settings, fault }: JobHistory, { terminal }: Context): string[] {
  const { pause, goneAt, renamedTo, dynamic, image } = stored
  const facts = [
    settings === undefined
      ? `cannot be read here: ${fault}`
      : `${describeSchedule(settings.schedule)}   ${settings.onCrash}   overlap ${settings.overlap}`,
    settings?.description ?? '',
    `${dynamic ? 'added at run time' : 'part of an image'}   image ${image}`,
    pause === undefined ? '' : pauseText(pause),
    goneAt === undefined ? '' : `gone since ${utcText(goneAt)}`,
    renamedTo === undefined ? '' : `called ${renamedTo} now`,
  ]
  const lines = facts.filter((fact) => fact !== '').flatMap((fact) => wrap(printable(fact), terminal.width - 3))
  return [` ${printable(stored.name)}`, ...lines.map((line) => `   ${line}`)]
}

function generations({ generations: rows }: JobHistory, { terminal: { width, paint } }: Context): string[] {
  return table({
    columns: [{ title: 'generation' }, { title: 'since' }, { title: 'schedule' }, { title: 'by', label: 'by' }],
    rows: rows.map(({ generation, sinceAt, schedule, by }) => [
      String(generation),
      utcText(sinceAt),
      schedule === undefined ? 'cannot be read here' : describeSchedule(schedule),
      by,
    ]),
    ...{ width, paint },
  })
}

function events({ events: rows }: JobHistory, { terminal: { width, paint } }: Context): string[] {
  return table({
    columns: [{ title: 'event' }, { title: 'at' }, { title: 'by' }, { title: 'note' }],
    rows: rows.map(({ event, at, by, note, image }: JobEvent) => [
      event,
      utcText(at),
      by === '' ? '-' : by,
      [note, image === undefined ? '' : `image ${image}`].filter((part) => part !== '').join('   '),
    ]),
    ...{ width, paint },
  })
}
