import { formatDuration } from '@cronce/core'

/** What the live view shows, at one instant. */
export interface Facts {
  readonly redisUrl: string
  /** Of the console; works once. */
  readonly signInUrl?: string | undefined
  readonly upMs: number
  readonly replicas: readonly string[]
  readonly workers: readonly string[]
  /** Kills and other ends of processes, newest first. */
  readonly ends: readonly string[]
  readonly jobs: readonly JobFacts[]
  readonly report: ReportFacts | undefined
  readonly overdue: readonly string[]
  readonly attempts: { readonly attempts: number; readonly wins: number }
  readonly lateness: { readonly p50: number | undefined; readonly p99: number | undefined }
  readonly deadLetters: number
  readonly effects: { readonly accepted: number; readonly repeat: number; readonly refused: number }
}

export interface JobFacts {
  readonly name: string
  readonly schedule: string
  readonly slots: readonly SlotFacts[]
}

export interface SlotFacts {
  readonly slot: string
  readonly claimedBy: string
  readonly latenessMs: number | undefined
  readonly state: string
}

export interface ReportFacts {
  readonly slot: string
  readonly state: string
  readonly planned: number
  readonly done: number
  readonly dead: number
  /** Entities that the source has, known before all are planned. */
  readonly expected: number
}

const BAR = 24

/** The live view as lines, cut to the terminal's width. */
export function frameOf(facts: Facts, columns: number): string[] {
  const { replicas, workers, attempts, lateness, effects } = facts
  return [
    `Cronce   up ${upText(facts.upMs)}   ${facts.redisUrl}   Ctrl-C stops it`,
    ...(facts.signInUrl === undefined ? [] : [`console   ${facts.signInUrl}`]),
    '',
    `replicas  ${replicas.join('  ')}`,
    `workers   ${workers.join('  ')}`,
    ...facts.ends.map((end, index) => `${index === 0 ? 'ends   ' : '       '}   ${end}`),
    '',
    `${pad('slot', 46)} ${pad('claimed by', 12)} ${pad('late', 8)} state`,
    ...facts.jobs.flatMap(jobLines),
    '',
    ...reportLines(facts.report),
    ...facts.overdue.map((line) => `overdue   ${line}`),
    '',
    `claims    ${attempts.wins} slots taken in ${attempts.attempts} attempts; the others found them taken`,
    `lateness  p50 ${msText(lateness.p50)}   p99 ${msText(lateness.p99)}`,
    `effects   ${effects.accepted} at the receiver, ${effects.repeat} repeats turned away, ${effects.refused} refused on purpose`,
    `dead      ${facts.deadLetters} letters${facts.deadLetters > 0 ? ': npm run cronce -- dead list, then dead retry --job package-report' : ''}`,
    '',
    'In a second terminal: npm run cronce -- runs; npm run cronce -- trigger package-report runs it again',
  ].map((line) => [...line].slice(0, columns).join(''))
}

function jobLines({ name, schedule, slots }: JobFacts): string[] {
  if (slots.length === 0) return [`${pad(name, 46)} ${pad('-', 12)} ${pad('-', 8)} ${schedule}`]
  return slots.map(({ slot, claimedBy, latenessMs, state }) => {
    return `${pad(slot, 46)} ${pad(claimedBy, 12)} ${pad(msText(latenessMs), 8)} ${state}`
  })
}

function reportLines(report: ReportFacts | undefined): string[] {
  if (report === undefined) return ['report    none yet']
  const { state, planned, done, dead, expected } = report
  const filled = Math.round((BAR * Math.min(done + dead, expected)) / Math.max(1, expected))
  const bar = `[${'#'.repeat(filled)}${'-'.repeat(BAR - filled)}]`
  return [`report    ${bar} ${done} of ${planned} planned done, ${dead} dead   ${state}`]
}

function upText(upMs: number): string {
  return formatDuration(Math.floor(upMs / 1000) * 1000)
}

function msText(value: number | undefined): string {
  return value === undefined ? '-' : `${Math.round(value)} ms`
}

function pad(text: string, width: number): string {
  return text.padEnd(width)
}
