import { isCronceError } from '@cronce/core'
import { eachLetter, showDeadLetter } from '@cronce/operations'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { wholeDeadLetterJson } from '../json/dead-letter-json.ts'
import { withService } from '../service-connection.ts'
import { printableJson } from '../text/printable.ts'

export interface ExportOptions {
  readonly job?: string
  readonly slot?: string
  readonly error?: string
}

/** `dead export`: open dead letters with everything that is kept of them, one JSON object per line. */
export async function deadExport(context: Context, { job, slot, error }: ExportOptions): Promise<Answer> {
  await withService(context, async ({ store }) => {
    for await (const { id } of eachLetter(store, { job, slot, error })) {
      const letter = await showDeadLetter(store, id).catch((failure: unknown) => {
        // Discarded and forgotten since it was listed.
        if (isCronceError(failure, 'CRONCE_DEAD_LETTER_UNKNOWN')) return undefined
        throw failure
      })
      if (letter !== undefined) await context.terminal.out(`${printableJson(wholeDeadLetterJson(letter))}\n`)
    }
  })
  return { json: {}, text: () => [], form: 'streamed' }
}
