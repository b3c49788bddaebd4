import { formatSlotKey, type SlotKey } from '@cronce/core'
import { DEFAULT_HISTORY, listForgottenJobs, listJobNames, readTime, type Store } from '@cronce/store'
import { auditJob, type JobSum } from './audit-job.ts'
import { requireJob } from './known-job.ts'
import { refused } from './request-faults.ts'

/** How long after its effective instant an unrecorded slot may still be on its way, ms: claim lease and sweep, six times over. */
export const DEFAULT_AUDIT_GRACE_MS = 120_000

/** Slots that an audit names; the counts are whole. */
const MOST_SLOTS = 100

/** Jobs that are audited at once. */
const AT_ONCE = 10

/** What to audit: the slots in [from, to). Instants in epoch ms. */
export interface AuditRequest {
  readonly fromAt: number
  readonly toAt: number
  /** Default: every job of the service, those that were removed among them. */
  readonly job?: string
  /** Default {@link DEFAULT_AUDIT_GRACE_MS}. */
  readonly graceMs?: number
}

/** A slot, or a folded day, that does not add up. */
export interface AuditedSlot {
  readonly job: string
  /** Undefined where only the sum of a folded day tells. */
  readonly slot: SlotKey | undefined
  readonly problem: 'missing' | 'double' | 'unexpected'
  /** How many slots it stands for. */
  readonly count: number
  readonly reason: string
}

/** What an audit came to. It adds up when `missing`, `double`, `unexpected` are 0 and nothing is unreadable. */
export interface Audit {
  readonly outcome: 'adds-up' | 'does-not-add-up'
  readonly fromAt: number
  readonly toAt: number
  readonly jobs: number
  /** `recorded` + `missing`. Slots that may still be on their way are not among them. */
  readonly expected: number
  readonly recorded: number
  readonly missing: number
  /** Slots with two records, or with a record and in a gap, or in two gaps. */
  readonly double: number
  /** Records of slots that no definition in force had. */
  readonly unexpected: number
  /** At most 100, by job. */
  readonly slots: readonly AuditedSlot[]
  /** Jobs whose stored definitions this release cannot read. */
  readonly unreadable: readonly { readonly job: string; readonly reason: string }[]
}

/**
 * Recomputes from the history of the definitions which slots had to exist, and compares with the ledger: records, gaps, and folded days,
 * which are compared as whole days (T12). Runs by hand are not expected. Reads the ledger's index, not its records, in pages.
 *
 * @throws CronceError CRONCE_INPUT_INVALID, CRONCE_JOB_UNKNOWN
 * @example await auditService(store, { fromAt: Date.parse('2026-06-01T00:00:00Z'), toAt: Date.parse('2026-06-02T00:00:00Z') })
 */
export async function auditService(store: Store, request: AuditRequest): Promise<Audit> {
  const { fromAt, toAt, graceMs = DEFAULT_AUDIT_GRACE_MS } = request
  if (!(toAt > fromAt)) throw refused('to', 'an instant after from', new Date(toAt).toISOString())
  const now = await readTime(store)
  // What is older than history has no record left to compare with.
  const from = Math.max(fromAt, now - DEFAULT_HISTORY.days * 24 * 3600 * 1000)
  const range = { afterAt: from - 1, untilAt: toAt - 1, now, graceAt: now - graceMs }
  const names = request.job === undefined ? await namesOf(store) : [await nameOf(store, request.job)]
  const sums: JobSum[] = []
  for (let start = 0; start < names.length; start += AT_ONCE) {
    sums.push(...(await Promise.all(names.slice(start, start + AT_ONCE).map((name) => auditJob(store, name, range)))))
  }
  return total(sums, { fromAt, toAt })
}

function total(sums: readonly JobSum[], range: { fromAt: number; toAt: number }): Audit {
  const count = (of: (sum: JobSum) => number) => sums.reduce((all, each) => all + of(each), 0)
  const [missing, double] = [count((sum) => sum.missing), count((sum) => sum.double)]
  const unexpected = count((sum) => sum.unexpected)
  const unreadable = sums.flatMap(({ job, fault }) => (fault === '' ? [] : [{ job, reason: fault }]))
  return {
    outcome: missing + double + unexpected + unreadable.length === 0 ? 'adds-up' : 'does-not-add-up',
    ...range,
    jobs: sums.length,
    expected: count((sum) => sum.expected),
    recorded: count((sum) => sum.recorded),
    missing,
    double,
    unexpected,
    slots: sums.flatMap(slotsOf).slice(0, MOST_SLOTS),
    unreadable,
  }
}

function slotsOf({ job, findings }: JobSum): AuditedSlot[] {
  return findings.map(({ at, ...finding }) => {
    return { job, slot: at === undefined ? undefined : formatSlotKey({ job, at }), ...finding }
  })
}

async function namesOf(store: Store): Promise<string[]> {
  const lists = await Promise.all([listJobNames(store), listForgottenJobs(store)])
  return [...new Set(lists.flat())].toSorted()
}

/** A removed job is known as long as its ledger is. */
async function nameOf(store: Store, job: string): Promise<string> {
  if (!(await listForgottenJobs(store)).includes(job)) await requireJob(store, job)
  return job
}
