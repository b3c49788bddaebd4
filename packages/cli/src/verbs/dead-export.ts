import { isCronceError } from '@cronce/core'
import { eachMeantBatch, showDeadLetter } from '@cronce/operations'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { wholeDeadLetterJson } from '../json/dead-letter-json.ts'
import { type FilterOptions, readFilter } from '../letter-selection.ts'
import { withService } from '../service-connection.ts'
import { printableJson } from '../text/printable.ts'

/** `dead export`: open dead letters with everything that is kept of them, one JSON object per line. */
export async function deadExport(context: Context, options: FilterOptions): Promise<Answer> {
  const filter = readFilter(options)
  await withService(context, async ({ store }) => {
    for await (const batch of eachMeantBatch(store, filter)) {
      for (const { id } of batch) {
        const letter = await showDeadLetter(store, id).catch((failure: unknown) => {
          // Discarded and forgotten since it was listed.
          if (isCronceError(failure, 'CRONCE_DEAD_LETTER_UNKNOWN')) return undefined
          throw failure
        })
        if (letter !== undefined) await context.terminal.out(`${printableJson(wholeDeadLetterJson(letter))}\n`)
      }
    }
  })
  return { json: {}, text: () => [], form: 'streamed' }
}
