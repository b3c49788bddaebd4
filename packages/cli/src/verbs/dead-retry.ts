import { type RedriveResult, redrive } from '@cronce/operations'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { readSelection, type SelectionOptions, settledLines } from '../letter-selection.ts'
import { readOperator } from '../operator-option.ts'
import { withService } from '../service-connection.ts'
import { printable } from '../text/printable.ts'

export interface RetryOptions extends SelectionOptions {
  readonly preview?: boolean
  readonly abandoned?: boolean
  readonly as?: string
}

/** `dead retry`: dead letters run again. */
export async function deadRetry(context: Context, ids: readonly string[], options: RetryOptions): Promise<Answer> {
  const selection = readSelection(ids, options)
  const operator = readOperator(options)
  const mode = options.preview === true ? 'preview' : 'redrive'
  const abandoned = options.abandoned === true ? 'too' : 'left'
  const result = await withService(context, (access) => redrive(access, { selection, operator, mode, abandoned }))
  return { json: { preview: mode === 'preview', ...result }, text: () => lines(result, mode) }
}

function lines({ entities, runs, abandonedLeft, settled }: RedriveResult, mode: 'preview' | 'redrive'): string[] {
  const what = `${entities} ${entities === 1 ? 'entity' : 'entities'} of ${runs} ${runs === 1 ? 'run' : 'runs'}`
  const receipts = 'effects that have receipts are not repeated'
  return [
    mode === 'preview'
      ? ` ${what}; ${receipts}. Nothing was changed (preview).`
      : ` ${what} queued again; ${receipts}.`,
    ...(abandonedLeft === 0
      ? []
      : [` ${abandonedLeft} abandoned left alone: they may have had their effect (--abandoned takes them).`]),
    ...settledLines(settled).map(printable),
  ]
}
