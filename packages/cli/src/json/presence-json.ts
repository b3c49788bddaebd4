import type { Presences } from '@cronce/operations'
import { isoOrNull, isoText } from '../text/instant-text.ts'

type Json = Readonly<Record<string, unknown>>

/** Replicas and workers in JSON. */
export function presenceJson({ replicas, workers }: Presences): {
  readonly replicas: Json[]
  readonly workers: Json[]
} {
  const shared = (presence: { heardAt: number; startedAt: number; leftAt?: number; version?: string }): Json => ({
    version: presence.version ?? null,
    heardAt: isoText(presence.heardAt),
    startedAt: isoText(presence.startedAt),
    leftAt: isoOrNull(presence.leftAt),
  })
  return {
    replicas: replicas.map((replica) => {
      const { id, state, release, host, pid, jobs, skewMs, loopLateMs, tzdata } = replica
      return { id, state, release, host, pid, jobs, skewMs, loopLateMs, tzdata, ...shared(replica) }
    }),
    workers: workers.map((worker) => {
      const { id, state, release, host, pid, queues, handlers, active } = worker
      return { id, state, release, host, pid, queues, handlers, active, ...shared(worker) }
    }),
  }
}
