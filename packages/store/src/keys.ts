import { encodeName } from '@cronce/core'

/**
 * Keys. One hash tag per job and one per service (A5), so that every script works on one node of a cluster, and two services
 * with one job name never meet. `:` cannot be part of an encoded name, so tags never collide.
 */
export function serviceKey(service: string): string {
  return `cronce:{${encodeName(service)}}`
}

/** The key that all keys of one job begin with. */
export function jobKey(service: string, job: string): string {
  return `cronce:{${encodeName(service)}:job:${encodeName(job)}}`
}

/** The BullMQ prefix of one queue: a hash tag of its own, so that queues spread over a cluster. */
export function queuePrefix(service: string, queue: string): string {
  return `cronce:{${encodeName(service)}:queue:${encodeName(queue)}}`
}
