import { isCronceError } from '@cronce/core'
import { eachMeantBatch, revealDeadLetters, type ShownLetter, selectionText, showDeadLetter } from '@cronce/operations'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { wholeDeadLetterJson } from '../json/dead-letter-json.ts'
import { type FilterOptions, readFilter } from '../letter-selection.ts'
import { readOperator } from '../operator-option.ts'
import { withService } from '../service-connection.ts'
import { printableJson } from '../text/printable.ts'

/** The options of `dead export`, as they were typed. */
export interface ExportOptions extends FilterOptions {
  readonly reveal?: boolean
  readonly as?: string
}

type Show = (id: string) => Promise<ShownLetter>

/** `dead export`: open dead letters with everything that is kept of them, one JSON object per line. */
export async function deadExport(context: Context, options: ExportOptions): Promise<Answer> {
  const { job } = options
  const filter = readFilter(options)
  await withService(context, async (access) => {
    const write = async (show: Show) => {
      for await (const batch of eachMeantBatch(access.store, filter)) {
        for (const { id } of batch) await writeLetter(context, await shownOrGone(show, id))
      }
    }
    if (options.reveal !== true) return await write((id) => showDeadLetter(access.store, id))
    const selection = `export ${selectionText(filter)}`.trimEnd()
    await revealDeadLetters(access, { operator: readOperator(options), selection, job }, write)
  })
  return { json: {}, text: () => [], form: 'streamed' }
}

async function shownOrGone(show: Show, id: string): Promise<ShownLetter | undefined> {
  try {
    return await show(id)
  } catch (failure) {
    // Discarded and forgotten since it was listed.
    if (isCronceError(failure, 'CRONCE_DEAD_LETTER_UNKNOWN')) return undefined
    throw failure
  }
}

async function writeLetter({ terminal }: Context, letter: ShownLetter | undefined): Promise<void> {
  if (letter !== undefined) await terminal.out(`${printableJson(wholeDeadLetterJson(letter))}\n`)
}
