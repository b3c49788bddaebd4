import type { Facts } from './frame.ts'

const EVERY_MS = 10_000
const STEPS = 10

/** What of the facts is worth a line where there is no terminal: each tenth of the report, and every ten seconds a sum. */
export function createSparseLines(): (facts: Facts) => readonly string[] {
  let saidAtMs = 0
  let said = { slot: '', step: -1, state: '' }
  return (facts) => {
    const lines: string[] = []
    const { report } = facts
    if (report !== undefined) {
      const step = Math.floor((STEPS * (report.done + report.dead)) / Math.max(1, report.expected))
      if (report.slot !== said.slot || step !== said.step || report.state !== said.state) {
        lines.push(
          `${report.slot}  ${report.done} done, ${report.dead} dead of ${report.planned} planned  ${report.state}`,
        )
        said = { slot: report.slot, step, state: report.state }
      }
    }
    if (facts.upMs - saidAtMs >= EVERY_MS) {
      saidAtMs = facts.upMs
      const { attempts, lateness } = facts
      const p99 = lateness.p99 === undefined ? '-' : `${Math.round(lateness.p99)} ms`
      lines.push(
        `${attempts.wins} slots in ${attempts.attempts} attempts, lateness p99 ${p99}, ${facts.deadLetters} dead letters`,
      )
      lines.push(...facts.overdue.map((line) => `overdue: ${line}`))
    }
    return lines
  }
}
