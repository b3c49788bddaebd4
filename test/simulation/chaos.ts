import type { Random } from '@cronce/core'
import { pauseJob, resumeJob } from '@cronce/operations'
import type { Store } from '@cronce/store'
import type { Image, SimulatedFleet } from './fleet.ts'
import { type JobMix, pick } from './job-mix.ts'
import type { Replica } from './replica.ts'
import type { VirtualTime } from './virtual-time.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** Who pauses jobs. */
const OPERATOR = { name: 'chaos' }

/** How often each kind of trouble happens in a simulated hour, on average. */
export interface ChaosRates {
  readonly kill: number
  readonly freeze: number
  readonly skew: number
  readonly flaky: number
  readonly deploy: number
  readonly outage: number
  readonly pause: number
}

export const NO_EDITS: ChaosRates = { kill: 3, freeze: 2, skew: 0, flaky: 0, deploy: 0, outage: 0, pause: 0 }

export interface ChaosOptions {
  readonly random: Random
  readonly time: VirtualTime
  readonly fleet: SimulatedFleet
  readonly size: number
  readonly untilAt: number
  readonly rates: ChaosRates
  /** Of those who pause jobs, on the wire as everybody. */
  readonly store: Store
  readonly mix: JobMix | undefined
  readonly image: Image
  /** Told what happens, for the story of a seed. */
  readonly tell: (what: string) => void
}

/** Trouble, from a seed. */
export interface Chaos {
  /** Ends all of it: whoever is frozen goes on, jobs are resumed, the newest image is everywhere. */
  heal(): void
}

export function startChaos(options: ChaosOptions): Chaos {
  const { random, time, fleet, untilAt, rates, store, tell, size } = options
  let mix = options.mix
  let newest = options.image
  let releases = 1
  let healed = false
  const paused = new Set<string>()

  const up = () => fleet.replicas.filter(({ state }) => state === 'up')
  // What is to be paused may be renamed or gone by now.
  const ask = (asked: Promise<unknown>) => void asked.catch(() => undefined)
  const later = (ms: number, act: () => void) => time.at(time.now + ms, () => (healed ? undefined : act()))
  const someone = (act: (replica: Replica) => void) => {
    const candidates = up()
    if (candidates.length > 0) act(pick(random, candidates))
  }
  // Most trouble strikes within the few commands of a tick, some long after.
  const commands = () => Math.floor(random() ** 3 * 60) + 1

  const acts: Record<keyof ChaosRates, () => void> = {
    kill: () =>
      someone((replica) => {
        const after = commands()
        tell(`kill ${replica.id} after ${after} commands`)
        replica.kill(after)
      }),
    freeze: () =>
      someone((replica) => {
        const [after, forMs] = [commands(), SECOND + random() ** 2 * 3 * MINUTE]
        tell(`freeze ${replica.id} after ${after} commands for ${Math.round(forMs / SECOND)} s`)
        replica.freeze(after, forMs)
      }),
    skew: () =>
      someone((replica) => {
        replica.clock.skewMs = (random() - 0.5) * 10 ** (2 + random() * 4)
        tell(`clock of ${replica.id} is off by ${Math.round(replica.clock.skewMs)} ms`)
      }),
    flaky: () =>
      someone((replica) => {
        const how = pick(random, ['lost-command', 'lost-answer', 'refused'] as const)
        const count = 1 + Math.floor(random() * 5)
        tell(`${count} commands of ${replica.id}: ${how}`)
        replica.line.fail(count, how)
      }),
    deploy,
    outage() {
      const forMs = MINUTE + random() ** 2 * 60 * MINUTE
      tell(`outage of ${Math.round(forMs / SECOND)} s`)
      fleet.beginOutage()
      for (const replica of fleet.replicas) replica.kill(commands())
      later(forMs, () => fleet.endOutage())
    },
    pause() {
      const names = mix?.jobs.map(({ name }) => name) ?? []
      if (names.length === 0) return
      const job = pick(random, names)
      const missed = pick(random, ['skip', 'catch-up'] as const)
      const until = random() < 0.5 ? { at: time.now + SECOND + Math.floor(random() * 20 * MINUTE) } : undefined
      tell(`pause ${job}, missed: ${missed}${until === undefined ? '' : ', ends by itself'}`)
      paused.add(job)
      ask(pauseJob({ store }, { job, operator: OPERATOR, missed, until }))
      later(random() * 20 * MINUTE, () => ask(resumeJob({ store }, { job, operator: OPERATOR })))
    },
  }

  /** A rolling deploy: one of the new joins, one of the old leaves; some are rolled back halfway. */
  function deploy(): void {
    if (mix === undefined) return
    const old = newest
    const isRolledBack = random() < 0.25
    const nextMix = mix.edited()
    releases += 1
    const next: Image = { name: `r${releases}`, jobs: nextMix.jobs }
    tell(`deploy ${next.name}${isRolledBack ? ', rolled back halfway' : ''}`)
    if (!isRolledBack) {
      newest = next
      mix = nextMix
    }
    const gapMs = SECOND + random() * MINUTE
    const steps = isRolledBack ? Math.ceil(size / 2) : size
    for (let step = 0; step < steps; step++) later(step * gapMs, () => replace(next, old))
    if (isRolledBack)
      for (let step = 0; step < steps; step++)
        later((steps + step) * gapMs + random() * 5 * MINUTE, () => replace(old, next))
  }

  function replace(by: Image, former: Image): void {
    fleet.join(by)
    const gone = up().find(({ id }) => id.startsWith(`${former.name}-`))
    if (gone === undefined) return
    fleet.retire(gone, random() < 0.2 ? { afterCommands: commands() } : 'leave')
  }

  function plan(kind: keyof ChaosRates): void {
    if (rates[kind] <= 0) return
    const inMs = (-Math.log(1 - random()) * 60 * MINUTE) / rates[kind]
    if (time.now + inMs >= untilAt) return
    later(inMs, () => {
      acts[kind]()
      plan(kind)
    })
  }

  for (const kind of Object.keys(acts) as (keyof ChaosRates)[]) plan(kind)

  return {
    heal() {
      healed = true
      fleet.endOutage()
      for (const job of paused) ask(resumeJob({ store }, { job, operator: OPERATOR }))
      for (const replica of fleet.replicas) {
        replica.line.cutAfter(Number.POSITIVE_INFINITY)
        replica.line.freezeAfter(Number.POSITIVE_INFINITY)
      }
      tell(`heal: ${size} of ${newest.name}`)
      const newer = fleet.replicas.filter(({ id }) => id.startsWith(`${newest.name}-`))
      for (let count = newer.length; count < size; count++) fleet.join(newest)
      for (const replica of up()) if (!replica.id.startsWith(`${newest.name}-`)) fleet.retire(replica, 'leave')
    },
  }
}
