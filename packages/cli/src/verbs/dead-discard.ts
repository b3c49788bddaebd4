import { CronceError } from '@cronce/core'
import { discard } from '@cronce/operations'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { changeShown } from '../letter-change.ts'
import { readSelection, type SelectionOptions } from '../letter-selection.ts'
import { readOperator } from '../operator-option.ts'
import { readText } from '../option-values.ts'
import { withService } from '../service-connection.ts'
import { restLines, settledLines } from '../text/letter-text.ts'

export interface DiscardOptions extends SelectionOptions {
  readonly reason?: string
  readonly preview?: boolean
  readonly rate?: string
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
  const result = await changeShown(context, { rate: options.rate, state: 'discarded' }, (shown) =>
    withService(context, (access) => discard(access, { selection, operator, reason, mode, ...shown })),
  )
  const { entities, settled } = result
  const what = `${entities} dead ${entities === 1 ? 'letter' : 'letters'}`
  return {
    json: { preview: mode === 'preview', ...result },
    text: () => [
      mode === 'preview'
        ? ` ${what}. Nothing was changed (preview).`
        : ` ${what} discarded; their runs still count them as dead.`,
      ...restLines(result),
      ...settledLines(settled),
    ],
    exit: result.left === 0 ? 'well' : 'found',
  }
}
