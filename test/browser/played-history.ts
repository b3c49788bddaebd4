import { formatDeadLetterId, type JobDefinition, nextSlot } from '@cronce/core'
import {
  type LedgerEntry,
  listUnended,
  type MemberFailure,
  settleChunk,
  startChunk,
  startPlan,
  writePage,
} from '@cronce/store'
import { createFleet, type Fleet } from '../support/fleet.ts'

/** What becomes of one run of a played job. */
export interface PlayedRun {
  /** From its slot to its start, ms. */
  readonly lateMs: number
  readonly tookMs: number
  readonly entities: number
  /** How many of them die. */
  readonly dead: number
}

/** A job whose past is played, from so long before now; `run` answers undefined where no worker takes it. */
export interface PlayedJob {
  readonly job: JobDefinition
  readonly sinceMs: number
  readonly run: (slot: { readonly at: number; readonly index: number }) => PlayedRun | undefined
}

const DAY_MS = 86_400_000

/**
 * Plays the past of jobs up to `untilAt` on a virtual clock: the real trigger claims every slot, and the scripts of a worker settle it.
 * Takes seconds for weeks, and leaves what a real past would.
 */
export async function playHistory(
  options: { url: string; service: string; untilAt: number },
  played: readonly PlayedJob[],
): Promise<void> {
  const { untilAt } = options
  const startAt = untilAt - Math.max(...played.map(({ sinceMs }) => sinceMs)) - DAY_MS / 24
  const fleet = createFleet({ ...options, startAt })
  const agenda: Agenda = []
  const counts = new Map<string, number>()
  const joined = new Set<PlayedJob>()
  const seen = new Set<string>()
  const join = async () => {
    const fresh = played.filter((each) => !joined.has(each) && untilAt - each.sinceMs <= fleet.clock.now())
    if (fresh.length === 0) return
    for (const each of fresh) joined.add(each)
    await fleet.join(
      `pod-${joined.size}`,
      [...joined].map(({ job }) => job),
      { release: '1.8.1' },
    )
  }
  const look = async () => {
    for (const each of joined) {
      for (const entry of await listUnended(fleet.store, each.job.name, 5)) {
        if (entry.state !== 'enqueued' || seen.has(entry.slot)) continue
        seen.add(entry.slot)
        const index = counts.get(each.job.name) ?? 0
        counts.set(each.job.name, index + 1)
        const run = each.run({ at: entry.at, index })
        if (run !== undefined) {
          agenda.push({
            at: Math.max(fleet.clock.now(), entry.at + run.lateMs),
            act: () => begin({ fleet, entry, played: run, agenda }),
          })
        }
      }
    }
  }
  for (;;) {
    const { clock } = fleet
    const now = clock.now()
    const joins = played.filter((each) => !joined.has(each)).map(({ sinceMs }) => untilAt - sinceMs)
    const slots = [...joined].map(({ job }) => nextSlot(job.schedule, now) ?? Number.POSITIVE_INFINITY)
    const next = Math.min(...joins, ...slots, ...agenda.map(({ at }) => at))
    if (next > untilAt) break
    clock.set(Math.max(now, next))
    await join()
    const due = agenda.filter(({ at }) => at <= clock.now())
    for (const { act } of due) await act()
    for (const done of due) agenda.splice(agenda.indexOf(done), 1)
    if (slots.some((at) => at <= clock.now())) await fleet.tick()
    await look()
  }
  fleet.clock.set(untilAt)
  await fleet.close()
}

const WORKER = { worker: 'worker-1', release: '1.8.1' }

type Agenda = { at: number; act: () => Promise<void> }[]

interface BegunRun {
  readonly fleet: Fleet
  readonly entry: LedgerEntry
  readonly played: PlayedRun
  readonly agenda: Agenda
}

async function begin(begun: BegunRun): Promise<void> {
  const { fleet, entry, played, agenda } = begun
  const run = { job: entry.job, id: entry.id }
  const plan = { ...WORKER, at: entry.at, hasDone: false, mostOpenChunks: 10 }
  const { fence } = await startPlan(fleet.store, run, plan)
  const members = Array.from({ length: Math.max(1, played.entities) }, (_, index) => {
    const key = `acct-${7_000 + index * 13}`
    return { key, payload: JSON.stringify({ accountId: key, plan: index % 3 === 0 ? 'team' : 'free' }) }
  })
  await writePage(fleet.store, run, { fence, after: '', next: 'only', last: true, members })
  agenda.push({ at: fleet.clock.now() + played.tookMs, act: () => end(begun, members) })
}

async function end(
  { fleet: { store }, entry, played: { dead } }: BegunRun,
  members: readonly { key: string; payload: string }[],
): Promise<void> {
  const run = { job: entry.job, id: entry.id }
  const { fence, now } = await startChunk(store, run, { number: 0, worker: WORKER.worker, token: 'played' })
  const failures = members.slice(0, dead).map(({ key, payload }, index): MemberFailure => {
    const error = {
      ...{ name: 'BillingError', message: 'HTTP 402 from billing: card was declined', at: now, attempt: 5 },
      ...{ stack: 'BillingError: HTTP 402\n    at charge (billing.ts:41:11)', worker: WORKER.worker },
    }
    return {
      ...{ index, verdict: 'dead', attempts: 5, nextAttemptAt: 0, reason: 'failed', entity: key, payload },
      error: JSON.stringify(error),
      deadLetterId: formatDeadLetterId(entry.slot, key),
    }
  })
  await settleChunk(store, run, {
    ...WORKER,
    ...{ number: 0, fence, failures, started: [], alone: false, handBack: false },
    done: members.map((_, index) => index).slice(dead),
  })
}
