import type { JobSettings } from '@cronce/core'
import { showDeadLetters, type Task } from '@cronce/queue'
import { countOpenChunks, hintOpenWork, type Redriven, readTime, redriveDeadLetters } from '@cronce/store'
import type { ServiceAccess } from './access.ts'
import type { MeantLetter } from './dead-letter-filter.ts'
import { requireSettings } from './known-job.ts'
import {
  changeLetters,
  type LetterChange,
  type LetterChangeRequest,
  type LetterPlan,
  planChange,
} from './letter-change.ts'
import { changeEnd, selectionEntry } from './letter-entry.ts'
import { selectLetters } from './letter-selection.ts'
import { authorize, operatorName } from './operator.ts'
import { recordAction } from './record-action.ts'

export interface RedriveRequest extends LetterChangeRequest {
  /** `preview` changes nothing. */
  readonly mode: 'preview' | 'redrive'
  /**
   * What was abandoned may have had its effect, so a filter leaves it alone unless told `too`. Letters that are named by their
   * ids are always repeated.
   */
  readonly abandoned?: 'left' | 'too' | undefined
}

/** W10: chunks of one run that a redrive leaves open; what is more waits for workers and takes no memory of Redis. */
const CHUNKS_LEFT_OPEN = 200

/** What was done, or would be: `entities` of `runs` are on their way again. */
export type RedriveResult = LetterChange & Omit<LetterPlan, keyof LetterChange>

/**
 * W8: dead letters run again, under their slot, with fresh attempts; effects that have receipts are not repeated. Twice is as
 * once: what is on its way already is answered as settled. Only letters that were open when it began: one that dies again
 * meanwhile is a letter again, and is not chased. It holds a few hundred letters at a time, however many are meant; with a `signal`, it waits
 * while a run has 200 chunks open, 20,000 letters, until workers have taken some in or it is told to stop.
 *
 * @throws CronceError CRONCE_DEAD_LETTER_UNKNOWN, CRONCE_JOB_UNKNOWN, CRONCE_JOB_UNREADABLE, CRONCE_SLOT_KEY_INVALID,
 *   CRONCE_INPUT_INVALID, CRONCE_NOT_ALLOWED
 */
export async function redrive(access: ServiceAccess, request: RedriveRequest): Promise<RedriveResult> {
  const { selection, operator, mode } = request
  if (mode === 'preview') return await redriveLetters(access, request)
  authorize(operator, 'redrive')
  return await recordAction(access, { operator, action: 'redrive', ...selectionEntry(selection) }, async () => {
    const answer = await redriveLetters(access, request)
    return { answer, end: changeEnd(answer, 'redriven') }
  })
}

/** As {@link redrive}, as a part of a change that has its own row in the journal. */
export async function redriveLetters(access: ServiceAccess, request: RedriveRequest): Promise<RedriveResult> {
  const { selection, diedUntil, mode, abandoned = 'left' } = request
  const by = operatorName(request.operator)
  const selected = await selectLetters(access.store, { selection, diedUntil })
  const takesAbandoned = abandoned === 'too' || selection.ids !== undefined
  const work = { selected, takes: ({ reason }: MeantLetter) => takesAbandoned || reason !== 'abandoned' }
  const { jobs, ...plan } = await planChange(work)
  if (mode === 'preview') return { ...plan, unchanged: 0, left: 0 }
  request.onPlan?.(plan)
  // All of them before the first change: a definition that cannot be read stops everything or nothing.
  const settings = await settingsOf(access, jobs)
  const options = { by, abandonedToo: takesAbandoned, diedUntil: selected.selectedAt }
  const script = {
    together: ({ slot }: MeantLetter) => slot,
    hasRoom: async ({ job, slotId: id }: MeantLetter) =>
      (await countOpenChunks(access.store, { job, id })) < CHUNKS_LEFT_OPEN,
    run: (letters: readonly [MeantLetter, ...MeantLetter[]]) =>
      redriveSome(access, letters, { ...options, settings: settings.get(letters[0].job) }),
  }
  const change = await changeLetters(work, script, { ...request, total: plan.entities })
  return { ...plan, ...change }
}

async function settingsOf({ store }: ServiceAccess, jobs: Iterable<string>): Promise<Map<string, JobSettings>> {
  const all = await Promise.all([...jobs].map((name) => requireSettings(store, name)))
  return new Map(all.map((settings) => [settings.name, settings]))
}

interface SomeOptions {
  readonly by: string
  readonly abandonedToo: boolean
  readonly diedUntil: number
  readonly settings: JobSettings | undefined
}

/** Letters of one run. */
async function redriveSome(
  { store, enqueuer }: ServiceAccess,
  letters: readonly [MeantLetter, ...MeantLetter[]],
  { settings, ...options }: SomeOptions,
): Promise<number> {
  if (settings === undefined) return 0
  const [{ job, slotId: id }] = letters
  // A `done` that failed runs again by itself after its run's entities, and its letter is settled with them.
  const isDone = ({ reason, of }: MeantLetter) => of === 'run' && reason === 'done'
  const isOnlyDone = letters.every(isDone)
  const asked = (isOnlyDone ? letters : letters.filter((letter) => !isDone(letter))).map((letter) => letter.id)
  const settled = isOnlyDone ? [] : letters.filter(isDone).map((letter) => letter.id)
  // A5: the hint first, so that a crash after the script leaves work that a sweep finds.
  await hintOpenWork(store, [job], await readTime(store))
  const redriven = await redriveDeadLetters(store, { job, id }, { ids: asked, ...options })
  if (redriven.status !== 'redriven') return 0
  await enqueuer.add(settings.queue, tasksOf(redriven, { job, id, version: settings.version }))
  await showDeadLetters({ store, enqueuer, job, ids: [...asked, ...settled] })
  return redriven.count + settled.length
}

function tasksOf(redriven: Redriven, task: Pick<Task, 'job' | 'id' | 'version'>): Task[] {
  const { chunk, step, doneVersion } = redriven
  return [
    ...(chunk === undefined ? [] : [{ ...task, kind: 'chunk' as const, number: chunk }]),
    ...(step === 0 ? [] : [{ ...task, kind: 'plan' as const, number: step }]),
    ...(doneVersion === 0 ? [] : [{ ...task, kind: 'done' as const, number: doneVersion }]),
  ]
}
