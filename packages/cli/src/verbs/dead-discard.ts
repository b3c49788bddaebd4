import { CronceError } from '@cronce/core'
import { discard } from '@cronce/operations'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { readSelection, type SelectionOptions, settledLines } from '../letter-selection.ts'
import { readOperator } from '../operator-option.ts'
import { readText } from '../option-values.ts'
import { withService } from '../service-connection.ts'
import { printable } from '../text/printable.ts'

export interface DiscardOptions extends SelectionOptions {
  readonly reason?: string
  readonly preview?: boolean
  readonly as?: string
}

/** `dead discard`: gives dead letters up. */
export async function deadDiscard(context: Context, ids: readonly string[], options: DiscardOptions): Promise<Answer> {
  const selection = readSelection(ids, options)
  const operator = readOperator(options)
  if (options.reason === undefined)
    throw new CronceError('CRONCE_USAGE', { reason: 'expected --reason: it is kept with the letter' })
  const reason = readText('--reason', options.reason, { most: 1_000 })
  const mode = options.preview === true ? 'preview' : 'discard'
  const { entities, settled } = await withService(context, (access) =>
    discard(access, { selection, operator, reason, mode }),
  )
  const what = `${entities} dead ${entities === 1 ? 'letter' : 'letters'}`
  return {
    json: { preview: mode === 'preview', entities, settled },
    text: () => [
      mode === 'preview'
        ? ` ${what}. Nothing was changed (preview).`
        : ` ${what} discarded; their runs still count them as dead.`,
      ...settledLines(settled).map(printable),
    ],
  }
}
