import type { BackfillPlan, BackfillResult } from '@cronce/operations'
import { printable } from './printable.ts'

/** ` 7 slots: 5 to run, 2 already done`. */
export function backfillPlanText({ slots, toRun, done, underWay, refused }: BackfillPlan): string[] {
  const parts = [
    `${toRun.length} to run`,
    `${done} already done`,
    ...(underWay === 0 ? [] : [`${underWay} on their way`]),
    ...refused.map(({ reason, count }) => `${count} refused (${reason})`),
  ]
  return [` ${slots} ${slots === 1 ? 'slot' : 'slots'}: ${parts.join(', ')}`]
}

/** What a backfill came to. */
export function backfillResultText({ plan, ran, elsewhere, left }: BackfillResult): string[] {
  const states = Object.entries(ran).map(([state, count]) => `${count} ${state}`)
  const parts = [
    ...(states.length === 0 ? ['nothing ran'] : states),
    ...(elsewhere === 0 ? [] : [`${elsewhere} taken by others meanwhile`]),
    ...(left === 0 ? [] : [`${left} left: the same command again runs them`]),
  ]
  return [` ${printable(plan.job)}: ${parts.join(', ')}`]
}
