import { RUN_STATES, type RunState } from '@cronce/core'
import { listRuns } from '@cronce/operations'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { InputFaults } from '../input-faults.ts'
import { runJson } from '../json/run-json.ts'
import { readChoice, readCount } from '../option-values.ts'
import { withService } from '../service-connection.ts'
import { causeText, durationCell, entitiesText, stateCell } from '../text/run-text.ts'
import { table } from '../text/table.ts'

export interface RunsOptions {
  readonly job?: string
  readonly state?: string
  readonly last?: string
  readonly cursor?: string
}

const STATES = Object.keys(RUN_STATES) as RunState[]

/** `runs`: what became of the last slots. */
export async function runs(context: Context, options: RunsOptions): Promise<Answer> {
  const faults = new InputFaults()
  const limit = faults.take(() => readCount('--last', options.last ?? '20', { least: 1, most: 1_000 }))
  const { state: stateText } = options
  const state = faults.take(() => (stateText === undefined ? undefined : readChoice('--state', stateText, STATES)))
  faults.raise()
  const { job, cursor } = options
  const page = await withService(context, ({ store }) => listRuns(store, { job, state, limit, cursor }))
  return {
    json: { runs: page.rows.map(runJson), next: page.next ?? null },
    text: () => {
      if (page.rows.length === 0) return [' no runs']
      const lines = table({
        columns: [
          { title: 'slot' },
          { title: 'state' },
          { title: 'cause' },
          { title: 'late' },
          { title: 'took' },
          { title: 'entities' },
          { title: 'by', label: 'by' },
        ],
        rows: page.rows.map((row) => [
          row.slot,
          stateCell(row.state),
          causeText(row.cause),
          durationCell(row.latenessMs),
          durationCell(row.durationMs),
          entitiesText(row),
          [row.by, row.release].filter((part) => part !== undefined && part !== '').join(' ') || '-',
        ]),
        width: context.terminal.width,
        paint: context.terminal.paint,
      })
      return page.next === undefined ? lines : [...lines, ` older: --cursor ${page.next}`]
    },
  }
}
