import { CronceError } from '@cronce/core'
import { type Action, mayDo, PERMISSIONS, type Role } from './permissions.ts'
import { requireText } from './request-faults.ts'

/** How a change was asked for. */
export type Way = 'cli' | 'console' | 'trigger' | 'code'

/** Who asks for a change; it is written beside what was changed. */
export interface Operator {
  readonly name: string
  /** Default `code`: a program that calls an operation itself. */
  readonly way?: Way | undefined
  /** Default `admin`: whoever holds the connection to Redis can do everything anyhow. */
  readonly role?: Role | undefined
}

const LONGEST_NAME = 128

/** @throws CronceError CRONCE_INPUT_INVALID */
export function operatorName({ name }: Operator): string {
  return requireText('operator', name, LONGEST_NAME)
}

/**
 * The name of somebody who may ask for a change.
 *
 * @throws CronceError CRONCE_NOT_ALLOWED, CRONCE_INPUT_INVALID
 */
export function authorize(operator: Operator, action: Action): string {
  const { role = 'admin' } = operator
  const by = operatorName(operator)
  if (mayDo(role, action)) return by
  throw new CronceError('CRONCE_NOT_ALLOWED', { name: by, role, action, needed: PERMISSIONS[action] })
}
