import type { AlarmFacts } from '@cronce/core'
import { type FleetFacts, fleetFacts } from './alarm-fleet.ts'
import { counted } from './alarm-reply.ts'
import { serviceKey } from './keys.ts'
import { parseRaised, type RaisedAlarm } from './raised-alarm.ts'
import { readReply } from './reply.ts'
import type { ScriptArgument, Store } from './store.ts'

/** An alarm as the journal has it. */
export interface AlarmEntry extends AlarmFacts {
  /** Unique in the service; the same at every attempt to deliver it. */
  readonly id: string
  readonly event: 'raised' | 'cleared' | 'undelivered'
  readonly at: number
  /** Who judged, or could not deliver. */
  readonly by: string
  /** When it was raised. */
  readonly raisedAt: number
}

/** A job that a watchdog took to judge. `raised` is its raised alarms as text: what {@link settleAlarms} compares. */
export interface JobToJudge {
  readonly job: string
  readonly score: number
  readonly raised: string
}

export interface AlarmTake {
  readonly now: number
  /** Whether this look judges the fleet as well. */
  readonly fleet: boolean
  /** When there is something to look at again; undefined: nothing is known. */
  readonly nextAt: number | undefined
  /** Whether alarms are to be delivered now, by a process that does. */
  readonly letters: 'due' | 'none'
  readonly jobs: readonly JobToJudge[]
  /** What the service is judged by, where there is anything to judge. The places of its jobs only with {@link fleet}. */
  readonly facts: FleetFacts | undefined
}

export interface AlarmTakeRequest {
  readonly who: string
  readonly putOffMs: number
  readonly most: number
  readonly fleetEveryMs: number
  /** Whether this process delivers alarms. */
  readonly delivers: boolean
}

/** Takes the jobs whose earliest possible alarm has come; one command, whatever the number of jobs. */
export async function takeJobsToJudge(store: Store, request: AlarmTakeRequest): Promise<AlarmTake> {
  const { who, putOffMs, most, fleetEveryMs, delivers } = request
  const reply = readReply(await store.span('alarm-take', [who, putOffMs, most, fleetEveryMs, delivers ? 1 : 0]))
  const [now, fleet, nextAt] = [reply.number(), reply.number() === 1, reply.number()]
  const letters = reply.number() === 1 ? 'due' : 'none'
  const jobs = counted(reply, () => ({ job: reply.text(), score: reply.number(), raised: reply.text() }))
  const facts = reply.more() ? fleetFacts(reply, now) : undefined
  return { now, fleet, nextAt: nextAt === 0 ? undefined : nextAt, letters, jobs, facts }
}

/** What a watchdog found of one job, or of the fleet (job ''). */
export interface AlarmSettlement {
  readonly job: string
  readonly score: number | ''
  /** When to look again; `gone`: the store has no such job. */
  readonly lookAt: number | 'gone'
  readonly known: string
  /** The alarms that are raised from now on, as text; '' for none. */
  readonly raised: string
  /** What looks at the fleet need to know of the job, as text; '' leaves it. */
  readonly place: string
  readonly entries: readonly Omit<AlarmEntry, 'id'>[]
}

/** Raises and clears, once per fleet. Answers the entries that were written: those of a slow judge are not. */
export async function settleAlarms(store: Store, settlements: readonly AlarmSettlement[]): Promise<AlarmEntry[]> {
  if (settlements.length === 0) return []
  const args = settlements.flatMap(({ job, score, lookAt, known, raised, place, entries }): ScriptArgument[] => [
    ...[job, score, lookAt, known, raised, place, entries.length],
    ...entries.map((entry) => JSON.stringify(entry)),
  ])
  const reply = readReply(await store.span('alarm-settle', [settlements.length, ...args]))
  reply.number()
  return settlements.flatMap(({ entries }) => {
    reply.text()
    const count = reply.number()
    const ids = Array.from({ length: count }, () => reply.text())
    return entries.slice(0, count).map((entry, index) => ({ ...entry, id: ids[index] ?? '' }))
  })
}

/** Asks for a look at these jobs now; jobs that are on no agenda are left alone. */
export async function askForJudgement(store: Store, jobs: readonly string[], now: number): Promise<void> {
  if (jobs.length === 0) return
  const pairs = jobs.flatMap((job) => [String(now), job])
  await store.redis.zadd(`${serviceKey(store.service)}:alarm:agenda`, 'XX', 'LT', ...pairs)
}

/** Every alarm that is raised now, oldest first. */
export async function listRaisedAlarms(store: Store): Promise<RaisedAlarm[]> {
  const rows = await store.redis.hvals(`${serviceKey(store.service)}:alarm:raised`)
  return rows.flatMap(parseRaised).toSorted((a, b) => a.raisedAt - b.raisedAt)
}

/** The last alarms that were raised, cleared or not delivered, newest first; about 1,000 are kept. */
export async function listAlarmJournal(store: Store, { limit }: { limit: number }): Promise<AlarmEntry[]> {
  const lines = await store.redis.lrange(`${serviceKey(store.service)}:alarm:journal`, -limit, -1)
  return lines.map((line) => JSON.parse(line) as AlarmEntry).toReversed()
}
