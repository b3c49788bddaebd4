import { type RunNowResult, runNow } from '@cronce/operations'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { InputFaults } from '../input-faults.ts'
import { readOperator } from '../operator-option.ts'
import { readText } from '../option-values.ts'
import { withService } from '../service-connection.ts'
import { printable } from '../text/printable.ts'
import { VERSION } from '../version.ts'

export interface TriggerOptions {
  readonly why?: string
  readonly requestId?: string
  readonly as?: string
}

const LONGEST_NOTE = 1_000

const MEANING: Readonly<Record<RunNowResult['status'], string>> = {
  enqueued: 'enqueued   (its own identity: no slot of the schedule is touched)',
  repeated: 'this request id has its run already; nothing was added',
  due: 'due: the queue took nothing, a replica adds it as soon as it does',
  claimed: 'claimed: not known to be on the queue, a replica finds out within 20 s',
}

/** `trigger`: runs a job now. */
export async function trigger(context: Context, job: string, options: TriggerOptions): Promise<Answer> {
  const { why, requestId } = options
  const faults = new InputFaults()
  const operator = faults.take(() => readOperator(options))
  if (why !== undefined) faults.take(() => readText('--why', why, { most: LONGEST_NOTE }))
  if (requestId !== undefined) faults.take(() => readText('--request-id', requestId, { most: LONGEST_NOTE }))
  faults.raise()
  const request = { job, why, requestId, operator: operator ?? { name: '' }, release: `cli ${VERSION}` }
  const { slot, status, reason } = await withService(context, (access) => runNow(access, request))
  return {
    json: { slot, status, reason: reason === '' ? null : reason },
    text: () => [` ${printable(slot)}`, `   ${MEANING[status]}`, ...(reason === '' ? [] : [`   ${printable(reason)}`])],
    exit: status === 'enqueued' || status === 'repeated' ? 'well' : 'found',
  }
}
