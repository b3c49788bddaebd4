import {
  type DeadLetterFilter,
  findJob,
  listDeadLetters,
  listRuns,
  type PageRequest,
  type RunQuery,
  type ShownLetter,
  showDeadLetter,
} from '@cronce/operations'
import { readTime, type Store } from '@cronce/store'
import type { RunsAnswer } from './answers.ts'
import type { LetterAnswer, LettersAnswer } from './letter-answers.ts'
import { letterRowAnswer, runAnswer } from './run-answer.ts'
import { contextOf } from './schedules.ts'

/** Runs and gaps, newest first. */
export async function readRuns(store: Store, query: RunQuery): Promise<RunsAnswer> {
  const [now, page] = await Promise.all([readTime(store), listRuns(store, query)])
  const names = [...new Set(page.rows.map(({ job }) => job))]
  const jobs = new Map(await Promise.all(names.map(async (name) => [name, await findJob(store, name)] as const)))
  const runs = page.rows.map((row) => runAnswer(row, contextOf(jobs.get(row.job)?.settings)))
  return { now, runs, next: page.next ?? null }
}

/** Open dead letters, newest first. */
export async function readLetters(store: Store, query: DeadLetterFilter & PageRequest): Promise<LettersAnswer> {
  const [now, { rows, next, total }] = await Promise.all([
    readTime(store),
    listDeadLetters(store, { ...query, count: 'if-quick' }),
  ])
  return { now, total: total ?? null, letters: rows.map(letterRowAnswer), next: next ?? null }
}

/** One dead letter with its payload and its errors, whatever its state; without what its definition hides. */
export async function readLetter(store: Store, id: string): Promise<LetterAnswer> {
  return letterAnswer(await showDeadLetter(store, id))
}

export function letterAnswer(letter: ShownLetter): LetterAnswer {
  const [newest] = letter.errors
  const { id, job, slot, reason, state, attempts, lives, at, worker, release, payload, redacted } = letter
  return {
    ...{ id, job, slot, reason, state, attempts, lives, at, worker, release },
    payload: payload ?? null,
    redacted,
    entity: letter.entity ?? null,
    error: newest === undefined ? null : { name: newest.name, message: newest.message },
    errors: letter.errors.map((error) => ({ ...error, stack: error.stack ?? null })),
    discardReason: letter.discardReason ?? null,
  }
}
