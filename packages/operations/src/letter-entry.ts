import type { LetterChange } from './letter-change.ts'
import type { LetterSelection } from './letter-selection.ts'
import type { ActionEnd, AskedAction } from './record-action.ts'

/** What a change of dead letters was for, in short, as the journal has it. */
export function selectionText(selection: LetterSelection): string {
  if (selection.ids !== undefined) {
    const [first = '', ...others] = selection.ids
    return others.length === 0 ? first : `${selection.ids.length} letters, the first ${first}`
  }
  const { job, slot, error, fromAt, toAt } = selection
  const parts = [
    ...(job === undefined ? [] : [`job=${job}`]),
    ...(slot === undefined ? [] : [`slot=${slot}`]),
    ...(error === undefined ? [] : [`error=${JSON.stringify(error)}`]),
    ...(fromAt === undefined ? [] : [`from=${new Date(fromAt).toISOString()}`]),
    ...(toAt === undefined ? [] : [`to=${new Date(toAt).toISOString()}`]),
  ]
  return parts.join(' ')
}

/** The part of a row that says what was chosen. */
export function selectionEntry(selection: LetterSelection): Pick<AskedAction, 'job' | 'selection'> {
  return { job: selection.ids === undefined ? selection.job : undefined, selection: selectionText(selection) }
}

/** What came of it; nothing of the journal where it changed nothing. */
export function changeEnd({ entities, runs, unchanged, left }: LetterChange, result: string): ActionEnd | 'unchanged' {
  if (entities === 0) return 'unchanged'
  return { result: left === 0 ? result : 'stopped', counts: { entities, runs, unchanged, left } }
}
