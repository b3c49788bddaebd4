import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { EventName, EventSource } from '@cronce/core'

/** Where a program of these tests dies, or freezes. */
export interface CrashPoint {
  /** The event that it dies in the middle of: the write before it is done, the one after it is not. */
  readonly event: EventName
  /** Only for slots of this job. */
  readonly job?: string
  /** Only where its facts are these. */
  readonly where?: Readonly<Record<string, unknown>>
  /** Names the casualties: together, the processes of a test die `most` times of one name. Default: the event and the job. */
  readonly name?: string
  /** Default 1. */
  readonly most?: number
  /** Default SIGKILL. */
  readonly signal?: 'SIGKILL' | 'SIGSTOP'
}

/** Dies at these points: synchronously, between one write and the next. `folder` counts the casualties of all processes. */
export function dieAt(events: EventSource, points: readonly CrashPoint[], folder: string): void {
  for (const point of points) {
    const { event, job, where = {}, name = `${event} ${job}`, most = 1, signal = 'SIGKILL' } = point
    // After whoever listens to any event already: what it died of has been told.
    events.onAny((told, facts) => {
      if (told !== event) return
      const known = facts as Readonly<Record<string, unknown>>
      if (job !== undefined && !String(known['slot']).startsWith(`${job}@`)) return
      if (!Object.entries(where).every(([fact, value]) => known[fact] === value)) return
      if (isCasualty(folder, name, most)) process.kill(process.pid, signal)
    })
  }
}

/** Whether it is this process's turn: across all processes, `most` times of one name. */
export function isCasualty(folder: string, name: string, most: number): boolean {
  for (let index = 0; index < most; index++) {
    try {
      closeSync(openSync(join(folder, `${encodeURIComponent(name)}-${index}`), 'wx'))
      return true
    } catch {
      // Somebody died of it before.
    }
  }
  return false
}
