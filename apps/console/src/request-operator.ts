import { CronceError } from '@cronce/core'
import type { Operator } from '@cronce/operations'
import type { FastifyRequest } from 'fastify'

/**
 * Who asks for a change, as it is written beside it.
 *
 * @throws CronceError CRONCE_CONSOLE_SIGN_IN
 */
export function operatorOf({ account }: FastifyRequest): Operator {
  if (account === undefined) throw new CronceError('CRONCE_CONSOLE_SIGN_IN', { got: 'none' })
  return { name: account.name, way: 'console', role: account.role }
}
