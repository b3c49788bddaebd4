import { setTimeout as delay } from 'node:timers/promises'
import { type AppEnd, type AppLine, type AppProcess, startApp } from './app-process.ts'

export type Role = 'replica' | 'worker'

export interface FleetOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Every line that a process writes. */
  readonly onLine: (id: string, line: AppLine) => void
  /** A process ended without having been told to. */
  readonly onDeath: (id: string, end: AppEnd) => void
}

/** The replicas and workers of the demo: real processes of the built apps. */
export interface Fleet {
  /** Starts one more, under a name of its own. */
  start(role: Role): AppProcess
  /** Until it answers that it is ready. */
  ready(process: AppProcess): Promise<void>
  /** Those that run, oldest first. */
  running(role: Role): readonly AppProcess[]
  /** Asks all to stop and waits for their end; kills who has not ended at the deadline. */
  stop(deadlineMs: number): Promise<void>
  /** Kills all at once. */
  killAll(): Promise<void>
}

/** Variables of the role beside its id, which is under this name. */
const ID_VARIABLE = { replica: 'CRONCE_REPLICA_ID', worker: 'CRONCE_WORKER_ID' } as const
const APP = { replica: 'service', worker: 'worker' } as const

const READY_WITHIN_MS = 30_000
const ASK_EVERY_MS = 50

export function createFleet({ env, onLine, onDeath }: FleetOptions): Fleet {
  const processes = new Map<Role, AppProcess[]>([
    ['replica', []],
    ['worker', []],
  ])
  const urls = new Map<string, string>()
  const alive = () => [...processes.values()].flat().filter(isAlive)
  const list = (role: Role) => processes.get(role) ?? []

  return {
    start(role) {
      const id = `${role}-${list(role).length + 1}`
      const started = startApp({
        app: APP[role],
        id,
        env: { ...env, [ID_VARIABLE[role]]: id },
        onLine(line) {
          const { msg, url } = line.fields
          if (msg === 'listening' && typeof url === 'string') urls.set(id, url)
          onLine(id, line)
        },
        onEnd(process, end) {
          if (process.state === 'died') onDeath(id, end)
        },
      })
      list(role).push(started)
      return started
    },
    async ready(process) {
      const signal = AbortSignal.timeout(READY_WITHIN_MS)
      while (!(await answersReady(urls.get(process.id)))) {
        if (process.state !== 'running') {
          const { lastLines } = await process.ended
          throw new Error([`${process.id} ended before it was ready; its last lines:`, ...lastLines].join('\n  '))
        }
        if (signal.aborted) throw new Error(`${process.id} was not ready within ${READY_WITHIN_MS} ms`)
        await delay(ASK_EVERY_MS)
      }
    },
    running: (role) => list(role).filter(({ state }) => state === 'running'),
    async stop(deadlineMs) {
      await Promise.all(alive().map((process) => process.stop(deadlineMs)))
    },
    async killAll() {
      await Promise.all(alive().map((process) => process.kill()))
    },
  }
}

function isAlive({ state }: AppProcess): boolean {
  return state === 'running' || state === 'stopping'
}

async function answersReady(url: string | undefined): Promise<boolean> {
  if (url === undefined) return false
  try {
    const answer = await fetch(new URL('/readyz', url), { signal: AbortSignal.timeout(2_000) })
    await answer.arrayBuffer()
    return answer.ok
  } catch {
    return false
  }
}
