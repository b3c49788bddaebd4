import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { redisUrlFault } from './config.ts'

/** What a running `npm start` leaves for the commands of a second terminal. */
const STATE = z.object({
  redisUrl: z.string().refine((url) => redisUrlFault(url) === undefined),
  service: z.string().min(1),
  consoleUrl: z.string().optional(),
  pid: z.int().positive(),
})

export type RunningSystem = z.infer<typeof STATE>

/** The running system that a folder belongs to: the nearest `.cronce/state.json` upwards whose process lives. */
export function findRunningSystem(folder: string): RunningSystem | undefined {
  for (let place = folder; ; place = dirname(place)) {
    const state = readState(join(place, '.cronce', 'state.json'))
    if (state !== undefined) return isAlive(state.pid) ? state : undefined
    if (dirname(place) === place) return undefined
  }
}

/** A file that is half written, or is none of ours, is no state. */
function readState(file: string): RunningSystem | undefined {
  try {
    return STATE.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it lives and is somebody else's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
