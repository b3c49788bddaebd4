import type { JobDefinition, Random } from '@cronce/core'
import { createTrigger, type Trigger, type TriggerOptions } from '@cronce/trigger'
import { pino } from 'pino'
import type { Line } from './line.ts'
import { createSkewedClock, type SkewedClock, TIME_OF_ARRIVAL, type VirtualTime } from './virtual-time.ts'
import type { Wire } from './wire.ts'

/** A replica of the simulated service: the real trigger, on a clock and a connection of its own. */
export interface Replica {
  readonly id: string
  readonly jobs: readonly JobDefinition[]
  readonly trigger: Trigger
  readonly line: Line
  readonly clock: SkewedClock
  readonly state: 'up' | 'frozen' | 'leaving' | 'down'
  /** Dies after so many more commands: it never writes again. */
  kill(afterCommands: number): void
  /** Stands still after so many more commands, in the middle of whatever it does, for so long. */
  freeze(afterCommands: number, forMs: number): void
  /** Ends as a deploy does. */
  leave(): void
}

export interface ReplicaOptions {
  readonly id: string
  readonly service: string
  readonly jobs: readonly JobDefinition[]
  readonly wire: Wire
  readonly time: VirtualTime
  readonly random: Random
  readonly skewMs: number
  readonly timing: Pick<TriggerOptions, 'claimLease' | 'sweepEvery' | 'readdAfter' | 'heartbeatEvery'>
  /** Called when it is gone, whatever the way. */
  readonly onDown: (replica: Replica) => void
}

/** Starts a replica. It registers and begins to fire as its commands get through. */
export function startReplica(options: ReplicaOptions): Replica {
  const { id, service, jobs, wire, time, random, skewMs, timing, onDown } = options
  const line = wire.open(id)
  const clock = createSkewedClock(time, skewMs)
  const trigger = createTrigger({
    ...timing,
    ...{ service, id, jobs, clock, random, redis: () => line.client },
    release: id.replace(/-\d+$/, ''),
    time: () => TIME_OF_ARRIVAL,
    // What the simulation proves is what became of slots; alarms have tests of their own.
    watchdog: 'off',
    logger: pino({ level: 'silent' }),
  })
  let state: Replica['state'] = 'up'
  const end = () => {
    if (state === 'down') return
    state = 'down'
    clock.end()
    line.close()
    onDown(replica)
  }
  const replica: Replica = {
    ...{ id, jobs, trigger, line, clock },
    get state() {
      return state
    },
    kill: (afterCommands) => line.cutAfter(afterCommands),
    freeze(afterCommands, forMs) {
      line.onFreeze = () => {
        if (state !== 'up') return
        state = 'frozen'
        clock.stop()
        time.at(time.now + forMs, () => {
          if (state !== 'frozen') return
          state = 'up'
          line.thaw()
          clock.goOn()
        })
      }
      line.freezeAfter(afterCommands)
    },
    leave() {
      if (state !== 'up') return
      state = 'leaving'
      void trigger.stop().then(end, end)
    },
  }
  line.onCut = end
  // A replica that cannot start ends its process, as a service does.
  trigger.start().catch(end)
  return replica
}
