import { type JobSettings, type SlotId, slotIdOf } from '@cronce/core'
import { showDeadLetters, type Task } from '@cronce/queue'
import { hintOpenWork, type Redriven, readTime, redriveDeadLetters } from '@cronce/store'
import type { ServiceAccess } from './access.ts'
import type { DeadLetterRow } from './dead-letter-row.ts'
import { requireSettings } from './known-job.ts'
import { type LetterSelection, type SelectedLetters, selectLetters } from './letter-selection.ts'
import { type Operator, operatorName } from './operator.ts'

export interface RedriveRequest {
  readonly selection: LetterSelection
  readonly operator: Operator
  /** `preview` changes nothing. */
  readonly mode: 'preview' | 'redrive'
  /**
   * What was abandoned may have had its effect, so a filter leaves it alone unless told `too`. Letters that are named by their
   * ids are always repeated.
   */
  readonly abandoned?: 'left' | 'too'
}

export interface RedriveResult {
  /** Dead letters that are, or would be, on their way again. */
  readonly entities: number
  readonly runs: number
  /** Abandoned ones that the filter meant and that were left. */
  readonly abandonedLeft: number
  readonly settled: SelectedLetters['settled']
}

/** One script takes no more (A5). */
const MOST_PER_SCRIPT = 100

/**
 * W8: dead letters run again, under their slot, with fresh attempts; effects that have receipts are not repeated. Twice is as
 * once: what is on its way already is answered as settled.
 *
 * @throws CronceError CRONCE_DEAD_LETTER_UNKNOWN, CRONCE_JOB_UNKNOWN, CRONCE_JOB_UNREADABLE, CRONCE_SLOT_KEY_INVALID,
 *   CRONCE_INPUT_INVALID
 */
export async function redrive(access: ServiceAccess, request: RedriveRequest): Promise<RedriveResult> {
  const { selection, mode, abandoned = 'left' } = request
  const by = operatorName(request.operator)
  const { open, settled } = await selectLetters(access.store, selection)
  const takesAbandoned = abandoned === 'too' || selection.ids !== undefined
  const chosen = takesAbandoned ? open : open.filter(({ reason }) => reason !== 'abandoned')
  const runs = groupByRun(chosen)
  const rest = { abandonedLeft: open.length - chosen.length, settled }
  if (mode === 'preview') return { entities: chosen.length, runs: runs.length, ...rest }
  const settings = await settingsOf(access, runs)
  let entities = 0
  let touched = 0
  for (const run of runs) {
    const count = await redriveRun(access, run, { by, takesAbandoned, settings: settings.get(run.job) })
    entities += count
    touched += count > 0 ? 1 : 0
  }
  return { entities, runs: touched, ...rest }
}

interface RunLetters {
  readonly job: string
  readonly id: SlotId
  readonly letters: readonly DeadLetterRow[]
}

function groupByRun(letters: readonly DeadLetterRow[]): RunLetters[] {
  const groups = new Map<string, RunLetters & { readonly letters: DeadLetterRow[] }>()
  for (const letter of letters) {
    const group = groups.get(letter.slot) ?? { job: letter.job, id: slotIdOf(letter.slot), letters: [] }
    groups.set(letter.slot, group)
    group.letters.push(letter)
  }
  return [...groups.values()]
}

/** All of them before the first change: a definition that cannot be read stops everything or nothing. */
async function settingsOf({ store }: ServiceAccess, runs: readonly RunLetters[]): Promise<Map<string, JobSettings>> {
  const names = [...new Set(runs.map(({ job }) => job))]
  const all = await Promise.all(names.map((name) => requireSettings(store, name)))
  return new Map(all.map((settings) => [settings.name, settings]))
}

interface RunRedrive {
  readonly by: string
  readonly takesAbandoned: boolean
  readonly settings: JobSettings | undefined
}

async function redriveRun(access: ServiceAccess, run: RunLetters, options: RunRedrive): Promise<number> {
  const { store, enqueuer } = access
  const { by, takesAbandoned, settings } = options
  if (settings === undefined) return 0
  const { job, id } = run
  // A `done` that failed runs again by itself after its run's entities, and its letter is settled with them.
  const isDone = ({ reason, entity }: DeadLetterRow) => entity === undefined && reason === 'done'
  const settled = run.letters.every(isDone) ? [] : run.letters.filter(isDone).map((letter) => letter.id)
  const letters = settled.length === 0 ? run.letters : run.letters.filter((letter) => !isDone(letter))
  let count = 0
  for (let start = 0; start < letters.length; start += MOST_PER_SCRIPT) {
    const ids = letters.slice(start, start + MOST_PER_SCRIPT).map((letter) => letter.id)
    // A5: the hint first, so that a crash after the script leaves work that a sweep finds.
    await hintOpenWork(store, [job], await readTime(store))
    const redriven = await redriveDeadLetters(store, { job, id }, { ids, by, abandonedToo: takesAbandoned })
    if (redriven.status !== 'redriven') continue
    await enqueuer.add(settings.queue, tasksOf(redriven, { job, id, version: settings.version }))
    await showDeadLetters({ store, enqueuer, job, ids: [...ids, ...settled] })
    count += redriven.count
  }
  return count
}

function tasksOf(redriven: Redriven, task: Pick<Task, 'job' | 'id' | 'version'>): Task[] {
  const { chunk, step, doneVersion } = redriven
  return [
    ...(chunk === undefined ? [] : [{ ...task, kind: 'chunk' as const, number: chunk }]),
    ...(step === 0 ? [] : [{ ...task, kind: 'plan' as const, number: step }]),
    ...(doneVersion === 0 ? [] : [{ ...task, kind: 'done' as const, number: doneVersion }]),
  ]
}
