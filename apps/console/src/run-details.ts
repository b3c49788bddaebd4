import { parseSlotKey, slotIdOf } from '@cronce/core'
import { findJob, showRun } from '@cronce/operations'
import { type LedgerEntry, readChunkProgress, readTime, type Store } from '@cronce/store'
import type { ChunksAnswer, RunDetailsAnswer } from './answers.ts'
import { letterRowAnswer, runAnswer, zoneOf } from './run-answer.ts'
import { contextOf } from './schedules.ts'

/** One run: its record, how far its chunks are, what happened to it, and its open dead letters. */
export async function readRun(
  store: Store,
  slot: string,
  { traceUrl }: { readonly traceUrl: string | undefined },
): Promise<RunDetailsAnswer> {
  const [now, details] = await Promise.all([readTime(store), showRun(store, slot)])
  const { run, record, events, deadLetters } = details
  const [known, chunks] = await Promise.all([
    findJob(store, run.job),
    record === undefined ? undefined : readChunkProgress(store, run.job, slotIdOf(run.slot)),
  ])
  const settings = known?.settings
  return {
    now,
    zone: zoneOf(settings?.schedule),
    isByHand: parseSlotKey(run.slot).manual !== undefined,
    run: runAnswer(run, contextOf(settings)),
    record: record === undefined ? null : recordAnswer(record),
    trace: record?.traceId === undefined ? null : { id: record.traceId, url: linkOf(traceUrl, record.traceId) },
    chunks: chunks === undefined ? null : chunksAnswer(chunks),
    events,
    deadLetters: deadLetters.map(letterRowAnswer),
  }
}

function linkOf(template: string | undefined, trace: string): string | null {
  return template === undefined ? null : template.replaceAll('{trace}', encodeURIComponent(trace))
}

function recordAnswer(record: LedgerEntry): NonNullable<RunDetailsAnswer['record']> {
  const { claims, starts, crashes, retries, version } = record
  return {
    claimedAt: record.claimedAt ?? null,
    enqueuedAt: record.enqueuedAt ?? null,
    startedAt: record.startedAt ?? null,
    startedBy: record.startedBy ?? null,
    finishedAt: record.finishedAt ?? null,
    ...{ claims, starts, crashes, retries, version },
  }
}

function chunksAnswer(progress: NonNullable<Awaited<ReturnType<typeof readChunkProgress>>>): ChunksAnswer {
  const { written, closed, plan, open, openCount } = progress
  return { written, closed, plan, openCount, open: open.map((chunk) => ({ ...chunk, worker: chunk.worker ?? null })) }
}
