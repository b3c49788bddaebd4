import type { JobDefinition, Random } from '@cronce/core'
import { type Replica, type ReplicaOptions, startReplica } from './replica.ts'
import type { VirtualTime } from './virtual-time.ts'
import type { Wire } from './wire.ts'

/** The replicas of the simulated service: whoever dies is started again, as by an orchestrator. */
export interface SimulatedFleet {
  readonly replicas: readonly Replica[]
  /** Starts a replica of an image. */
  join(image: Image): void
  /** Ends a replica for good: with a goodbye, or by a kill after so many commands. */
  retire(replica: Replica, how: 'leave' | { readonly afterCommands: number }): void
  /** Nobody is started again until the end of the outage. */
  beginOutage(): void
  endOutage(): void
  readonly kills: number
}

/** A release and the definitions it carries. */
export interface Image {
  readonly name: string
  readonly jobs: readonly JobDefinition[]
}

export interface FleetOptions extends Pick<ReplicaOptions, 'service' | 'timing'> {
  readonly wire: Wire
  readonly time: VirtualTime
  readonly random: Random
  /** The clock error of a new process, ms. */
  readonly skewMs: () => number
  /** How long until a process that died is started again, ms. */
  readonly restartMs: () => number
}

export function createSimulatedFleet(options: FleetOptions): SimulatedFleet {
  const { wire, time, random, skewMs, restartMs, service, timing } = options
  const replicas = new Set<Replica>()
  const retired = new WeakSet<Replica>()
  let waiting: Image[] = []
  let outage = false
  let kills = 0
  let started = 0

  function join(image: Image): void {
    if (outage) {
      waiting.push(image)
      return
    }
    started += 1
    const id = `${image.name}-${started}`
    const onDown = (replica: Replica) => {
      replicas.delete(replica)
      if (retired.has(replica)) return
      kills += 1
      time.at(time.now + restartMs(), () => join(image))
    }
    replicas.add(startReplica({ id, service, jobs: image.jobs, wire, time, random, skewMs: skewMs(), timing, onDown }))
  }

  return {
    get replicas() {
      return [...replicas]
    },
    join,
    retire(replica, how) {
      retired.add(replica)
      if (how === 'leave') replica.leave()
      else replica.kill(how.afterCommands)
    },
    beginOutage() {
      outage = true
    },
    endOutage() {
      outage = false
      const images = waiting
      waiting = []
      for (const image of images) join(image)
    },
    get kills() {
      return kills
    },
  }
}
