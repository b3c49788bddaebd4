import type { ErrorCode } from '@cronce/core'

/** What the exit code says. */
export const EXIT = {
  well: 0,
  /** The command did its work and found something wrong. */
  found: 1,
  /** Used wrongly, refused, or failed: the command did not do its work. */
  refused: 2,
  /** Redis is out of reach. */
  unreachable: 3,
} as const

export type Exit = keyof typeof EXIT

/** How a command ends that an error of this code ended. */
export function exitOf(code: ErrorCode): Exit {
  return code === 'CRONCE_REDIS_UNREACHABLE' ? 'unreachable' : 'refused'
}
