import { requireText } from './request-faults.ts'

/** Who asks for a change; it is written beside what was changed. */
export interface Operator {
  readonly name: string
}

const LONGEST_NAME = 128

/** @throws CronceError CRONCE_INPUT_INVALID */
export function operatorName({ name }: Operator): string {
  return requireText('operator', name, LONGEST_NAME)
}
