import {
  type DeadLetterFilter,
  findJob,
  listDeadLetters,
  listPresence,
  listRuns,
  type PageRequest,
  type RunQuery,
  showDeadLetter,
  showRun,
} from '@cronce/operations'
import { readTime, type Store } from '@cronce/store'
import type { LetterAnswer, LettersAnswer, PresenceAnswer, RunDetailsAnswer, RunsAnswer } from './answers.ts'
import { letterRowAnswer, runAnswer, zoneOf } from './run-answer.ts'
import { contextOf } from './schedules.ts'

/** Runs and gaps, newest first. */
export async function readRuns(store: Store, query: RunQuery): Promise<RunsAnswer> {
  const [now, page] = await Promise.all([readTime(store), listRuns(store, query)])
  const names = [...new Set(page.rows.map(({ job }) => job))]
  const jobs = new Map(await Promise.all(names.map(async (name) => [name, await findJob(store, name)] as const)))
  const runs = page.rows.map((row) => runAnswer(row, contextOf(jobs.get(row.job)?.settings)))
  return { now, runs, next: page.next ?? null }
}

/** One run: its record, what happened to it, and its open dead letters. */
export async function readRun(store: Store, slot: string): Promise<RunDetailsAnswer> {
  const [now, { run, record, events, deadLetters }] = await Promise.all([readTime(store), showRun(store, slot)])
  const settings = (await findJob(store, run.job))?.settings
  return {
    now,
    zone: zoneOf(settings?.schedule),
    run: runAnswer(run, contextOf(settings)),
    record:
      record === undefined
        ? null
        : {
            claimedAt: record.claimedAt ?? null,
            enqueuedAt: record.enqueuedAt ?? null,
            startedAt: record.startedAt ?? null,
            startedBy: record.startedBy ?? null,
            finishedAt: record.finishedAt ?? null,
            claims: record.claims,
            starts: record.starts,
            crashes: record.crashes,
            retries: record.retries,
            version: record.version,
          },
    events,
    deadLetters: deadLetters.map(letterRowAnswer),
  }
}

/** Open dead letters, newest first. */
export async function readLetters(store: Store, query: DeadLetterFilter & PageRequest): Promise<LettersAnswer> {
  const [now, { rows, next, total }] = await Promise.all([readTime(store), listDeadLetters(store, query)])
  return { now, total, letters: rows.map(letterRowAnswer), next: next ?? null }
}

/** One dead letter with its payload and its errors, whatever its state. */
export async function readLetter(store: Store, id: string): Promise<LetterAnswer> {
  const letter = await showDeadLetter(store, id)
  const [newest] = letter.errors
  const { job, slot, reason, state, attempts, lives, at, worker, release, payload } = letter
  return {
    ...{ id, job, slot, reason, state, attempts, lives, at, worker, release },
    payload: payload ?? null,
    entity: letter.entity ?? null,
    error: newest === undefined ? null : { name: newest.name, message: newest.message },
    errors: letter.errors.map((error) => ({ ...error, stack: error.stack ?? null })),
    discardReason: letter.discardReason ?? null,
  }
}

/** Who lives, is silent or left within the last hour. */
export async function readPresence(store: Store): Promise<PresenceAnswer> {
  const { now, replicas, workers } = await listPresence(store)
  return {
    now,
    replicas: replicas.map(({ id, state, release, host, pid, startedAt, heardAt, skewMs, loopLateMs }) => {
      return { id, state, release, host, pid, startedAt, heardAt, skewMs, loopLateMs }
    }),
    workers: workers.map(({ id, state, release, host, pid, startedAt, heardAt, queues, active }) => {
      return { id, state, release, host, pid, startedAt, heardAt, queues, active }
    }),
  }
}
