import type { LetterPlan, SettledLetters } from '@cronce/operations'
import { printable } from './printable.ts'

const MEANING: Readonly<Record<string, string>> = {
  redriven: 'already queued',
  resolved: 'already done',
  discarded: 'discarded',
}

/** What is said of letters that were named and are not open any more. */
export function settledLines(settled: SettledLetters): string[] {
  return settled.map(({ id, state }) => printable(` ${id}  ${MEANING[state] ?? state}`))
}

/** `2 entities of 1 run`. */
export function letterCountText({ entities, runs }: Pick<LetterPlan, 'entities' | 'runs'>): string {
  return `${countText(entities, ['entity', 'entities'])} of ${countText(runs, ['run', 'runs'])}`
}

/** What was not changed of what was meant, and how to go on. */
export function restLines({ unchanged, left }: { readonly unchanged: number; readonly left: number }): string[] {
  return [
    ...(unchanged === 0 ? [] : [` ${unchanged} left as they are: changed meanwhile, or not to be changed.`]),
    ...(left === 0 ? [] : [` stopped: ${left} left; the same command goes on with what is still open.`]),
  ]
}

function countText(count: number, [one, many]: readonly [string, string]): string {
  return `${count} ${count === 1 ? one : many}`
}
