import { type LedgerEntry, readEntry } from './ledger-entry.ts'
import type { Executor, RunRef } from './plan.ts'
import { readReply } from './reply.ts'
import type { Store } from './store.ts'

export interface DoneStart {
  readonly status: 'run' | 'stale'
  readonly attempt: number
  /** The run as the ledger has it; undefined where stale. */
  readonly entry: LedgerEntry | undefined
}

/** W7: starts `done` for an outcome, if it is still the newest and not done. `token` names the attempt: sent twice, it is one. */
export async function startDone(
  store: Store,
  run: RunRef,
  options: { version: number; worker: string; token: string },
): Promise<DoneStart> {
  const reply = readReply(
    await store.job(run.job, 'done-start', [run.id, options.version, options.worker, options.token]),
  )
  const status = reply.text() as DoneStart['status']
  reply.number()
  const attempt = reply.number()
  return { status, attempt, entry: status === 'run' ? readEntry(run.job, run.id, reply.fields()) : undefined }
}

/** W7: ends an attempt at `done`. */
export async function endDone(
  store: Store,
  run: RunRef,
  end: Executor & {
    version: number
    /** `back`: it was no attempt, and is not counted. */
    verdict: 'done' | 'retry' | 'dead' | 'back'
    attempt: number
    error: string
    deadLetterId: string
  },
): Promise<'written' | 'stale'> {
  const args = [run.id, end.version, end.verdict, end.attempt, end.error, end.deadLetterId, end.worker, end.release]
  const [answer] = await store.job(run.job, 'done-end', args)
  return answer as 'written' | 'stale'
}
