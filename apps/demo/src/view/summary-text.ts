import type { Summary } from '../counting/verdict.ts'

/** The summary of a bounded run for people. */
export function summaryText(summary: Summary): string {
  const { lateness, redriven } = summary
  const ms = (value: number | null) => (value === null ? '-' : `${value} ms`)
  return [
    `slots     ${summary.slots} due, ${summary.attempts} attempts by ${summary.replicas} replicas: ${summary.runs} ran, ${summary.skips} attempts found it taken`,
    `          ${summary.lostSlots} lost, ${summary.duplicateRuns} run twice; lateness p50 ${ms(lateness.p50)}, p99 ${ms(lateness.p99)}`,
    `entities  ${summary.entities} planned: ${summary.entitiesDone} done, ${summary.deadLetters} dead letters`,
    `effects   ${summary.duplicateEffects} accepted twice, ${summary.effectRepeats} repeats turned away`,
    ...(redriven === undefined
      ? []
      : [
          `redriven  ${redriven.entities}; since then ${redriven.entitiesDone} done, ${redriven.deadLetters} dead letters`,
        ]),
    `killed    ${summary.kills}`,
  ].join('\n')
}
