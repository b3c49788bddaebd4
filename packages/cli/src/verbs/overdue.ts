import { listOverdue, type OverdueRow } from '@cronce/operations'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { withService } from '../service-connection.ts'
import { durationText } from '../text/duration-text.ts'
import { isoText, zonedText } from '../text/instant-text.ts'
import { table } from '../text/table.ts'

/** `overdue`: what should have started, or ended, by now. */
export async function overdue(context: Context): Promise<Answer> {
  const rows = await withService(context, ({ store }) => listOverdue(store))
  return {
    json: { overdue: rows.map(overdueJson) },
    text: () => (rows.length === 0 ? [' nothing is overdue'] : lines(rows, context)),
    exit: rows.length === 0 ? 'well' : 'found',
  }
}

function overdueJson({ slot, job, kind, at, sinceMs, toleranceMs, reason, count }: OverdueRow): Answer['json'] {
  return { slot, job, kind, sinceMs, reason, at: isoText(at), toleranceMs, count }
}

function lines(rows: readonly OverdueRow[], { terminal }: Context): string[] {
  return table({
    columns: [{ title: 'slot' }, { title: 'due' }, { title: 'overdue' }, { title: 'reason' }],
    rows: rows.map(({ slot, at, zone = 'UTC', kind, sinceMs, reason, count }) => [
      slot,
      `due ${zonedText(at, zone)}`,
      `not ${kind === 'start' ? 'started' : 'finished'} after ${durationText(sinceMs)}`,
      count === 1 ? reason : `${reason} (${count} slots)`,
    ]),
    width: terminal.width,
    paint: terminal.paint,
    titles: 'hidden',
  })
}
