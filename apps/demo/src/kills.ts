import type { Random } from '@cronce/core'
import type { AppProcess } from './processes/app-process.ts'
import type { Role } from './processes/fleet.ts'
import type { DemoSystem } from './system.ts'

/** One process that was killed, and who came in its place. */
export interface Kill {
  readonly role: Role
  readonly killed: string
  readonly successor: string
  /** Chunks of the report that it had in its hands. */
  readonly held: readonly number[]
}

/** Sends SIGKILL to one process and starts another in its place; the other need not be ready yet. */
export async function killOne(
  system: DemoSystem,
  victim: AppProcess,
  kill: { role: Role; report: string },
): Promise<Kill> {
  const { fleet, watch } = system
  const held = kill.role === 'worker' ? watch.heldChunks(victim.id, kill.report) : []
  await victim.kill()
  const successor = fleet.start(kill.role)
  return { role: kill.role, killed: victim.id, successor: successor.id, held }
}

/** The worker with most chunks of the run in its hands, if one has any. */
export function busiestWorker({ fleet, watch }: DemoSystem, report: string): AppProcess | undefined {
  const held = (worker: AppProcess) => watch.heldChunks(worker.id, report).length
  const [busiest] = fleet.running('worker').toSorted((one, other) => held(other) - held(one))
  return busiest !== undefined && held(busiest) > 0 ? busiest : undefined
}

/** One of the running processes of a role, by chance. */
export function anyOf({ fleet }: DemoSystem, role: Role, random: Random): AppProcess | undefined {
  const running = fleet.running(role)
  return running[Math.floor(random() * running.length)]
}

/** A kill in words. */
export function describeKill({ killed, successor, held }: Kill): string {
  const holding = held.length === 0 ? '' : ` with chunk ${held.join(', ')} of the report in its hands`
  return `killed ${killed} (SIGKILL)${holding}; ${successor} starts`
}
