import { type RedriveResult, redrive } from '@cronce/operations'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { changeShown } from '../letter-change.ts'
import { readSelection, type SelectionOptions } from '../letter-selection.ts'
import { readOperator } from '../operator-option.ts'
import { withService } from '../service-connection.ts'
import { letterCountText, restLines, settledLines } from '../text/letter-text.ts'

export interface RetryOptions extends SelectionOptions {
  readonly preview?: boolean
  readonly abandoned?: boolean
  readonly rate?: string
  readonly as?: string
}

/** `dead retry`: dead letters run again. */
export async function deadRetry(context: Context, ids: readonly string[], options: RetryOptions): Promise<Answer> {
  const selection = readSelection(ids, options)
  const operator = readOperator(options)
  const mode = options.preview === true ? 'preview' : 'redrive'
  const abandoned = options.abandoned === true ? 'too' : 'left'
  const request = { selection, operator, mode, abandoned } as const
  const result = await changeShown(context, { rate: options.rate, state: 'queued again' }, (shown) =>
    withService(context, (access) => redrive(access, { ...request, ...shown })),
  )
  return {
    json: { preview: mode === 'preview', ...result },
    text: () => lines(result, mode),
    exit: result.left === 0 ? 'well' : 'found',
  }
}

function lines(result: RedriveResult, mode: 'preview' | 'redrive'): string[] {
  const { abandonedLeft, settled } = result
  const what = letterCountText(result)
  const receipts = 'effects that have receipts are not repeated'
  return [
    mode === 'preview'
      ? ` ${what}; ${receipts}. Nothing was changed (preview).`
      : ` ${what} queued again; ${receipts}.`,
    ...(abandonedLeft === 0
      ? []
      : [` ${abandonedLeft} abandoned left alone: they may have had their effect (--abandoned takes them).`]),
    ...restLines(result),
    ...settledLines(settled),
  ]
}
