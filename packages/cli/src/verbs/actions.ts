import { type ActionRow, listActions } from '@cronce/operations'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { InputFaults } from '../input-faults.ts'
import { readCount } from '../option-values.ts'
import { withService } from '../service-connection.ts'
import { isoText, utcText } from '../text/instant-text.ts'
import { type Cell, table } from '../text/table.ts'

/** The options of `actions`, as they were typed. */
export interface ActionsOptions {
  readonly job?: string
  readonly slot?: string
  readonly who?: string
  readonly last?: string
  readonly cursor?: string
}

/** `actions`: what people changed, and what came of it. */
export async function actions(context: Context, options: ActionsOptions): Promise<Answer> {
  const faults = new InputFaults()
  const limit = faults.take(() => readCount('--last', options.last ?? '20', { least: 1, most: 1_000 }))
  faults.raise()
  const { job, slot, who, cursor } = options
  const page = await withService(context, ({ store }) => listActions(store, { job, slot, who, limit, cursor }))
  return {
    json: { actions: page.rows.map(actionJson), next: page.next ?? null },
    text: () => {
      if (page.rows.length === 0) return [' no changes']
      const { width, paint } = context.terminal
      const lines = table({
        columns: [
          { title: 'at' },
          { title: 'action' },
          { title: 'of' },
          { title: 'result' },
          { title: 'by', label: 'by' },
          { title: 'note' },
        ],
        rows: page.rows.map((row) => [
          utcText(Math.floor(row.at / 1_000) * 1_000),
          row.action,
          subjectOf(row),
          resultCell(row),
          `${row.by} (${row.way})`,
          row.note === undefined || row.note === '' ? '-' : row.note,
        ]),
        ...{ width, paint },
      })
      return page.next === undefined ? lines : [...lines, ` older: --cursor ${page.next}`]
    },
  }
}

function actionJson(row: ActionRow): Answer['json'] {
  const { at, by, way, role, action, job, slots, moreSlots, selection, note, outcome, result, counts } = row
  return {
    ...{ at: isoText(at), by, way, role, action, job: job ?? null, slots, moreSlots },
    ...{ selection: selection ?? null, note: note ?? null, outcome, result, counts },
  }
}

function subjectOf({ job, slots, moreSlots, selection }: ActionRow): string {
  const [only] = slots
  if (only !== undefined && slots.length === 1) return only
  const runs = slots.length === 0 ? '' : `${slots.length + moreSlots} slots`
  return [job, selection, runs].filter((part) => part !== undefined && part !== '').join(' ') || '-'
}

function resultCell({ outcome, result, counts }: ActionRow): Cell {
  if (outcome === 'asked') return { text: 'asked, end unknown', tone: 'bad' }
  const text = [result, ...Object.entries(counts).map(([name, count]) => `${name} ${count}`)].join(' ')
  return outcome === 'failed' ? { text: `failed: ${text}`, tone: 'bad' } : text
}
