import { listDeadLetters } from '@cronce/operations'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { deadLetterJson } from '../json/dead-letter-json.ts'
import { type FilterOptions, readFilter } from '../letter-selection.ts'
import { readCount } from '../option-values.ts'
import { withService } from '../service-connection.ts'
import { utcText } from '../text/instant-text.ts'
import { table } from '../text/table.ts'

export interface DeadListOptions extends FilterOptions {
  readonly limit?: string
  readonly cursor?: string
}

/** `dead list`: open dead letters, newest first. */
export async function deadList(context: Context, options: DeadListOptions): Promise<Answer> {
  const limit = readCount('--limit', options.limit ?? '20', { least: 1, most: 1_000 })
  const query = { ...readFilter(options), limit, cursor: options.cursor }
  const page = await withService(context, ({ store }) => listDeadLetters(store, query))
  return {
    json: { dead: page.rows.map(deadLetterJson), total: page.total ?? null, next: page.next ?? null },
    text: () => {
      const lines = table({
        columns: [{ title: 'dead letter' }, { title: 'at' }, { title: 'tries' }, { title: 'error' }],
        rows: page.rows.map(({ id, at, attempts, error: newest, reason }) => [
          id,
          utcText(Math.floor(at / 1_000) * 1_000),
          String(attempts),
          newest === undefined ? reason : `${newest.name}: ${newest.message}`,
        ]),
        width: context.terminal.width,
        paint: context.terminal.paint,
      })
      const sum = ` ${page.rows.length} of ${page.total} open`
      return [...lines, page.next === undefined ? sum : `${sum}   older: --cursor ${page.next}`]
    },
  }
}
