import { type Operator, type RunNowResult, type RunSlotResult, runNow, runSlot } from '@cronce/operations'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { InputFaults } from '../input-faults.ts'
import { readOperator } from '../operator-option.ts'
import { readText } from '../option-values.ts'
import { withService } from '../service-connection.ts'
import { printable } from '../text/printable.ts'
import { VERSION } from '../version.ts'

export interface TriggerOptions {
  readonly slot?: string
  readonly force?: boolean
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

/** `trigger`: runs a job now, or one slot of it that did not run. */
export async function trigger(context: Context, job: string, options: TriggerOptions): Promise<Answer> {
  const { why, requestId, slot, force } = options
  const faults = new InputFaults()
  const operator = faults.take(() => readOperator(options)) ?? { name: '' }
  if (why !== undefined) faults.take(() => readText('--why', why, { most: LONGEST_NOTE }))
  if (requestId !== undefined) faults.take(() => readText('--request-id', requestId, { most: LONGEST_NOTE }))
  if (slot === undefined && force === true) faults.add('expected --force only beside --slot')
  if (slot !== undefined && requestId !== undefined) faults.add('expected --request-id without --slot, which runs once')
  faults.raise()
  return slot === undefined
    ? await triggerNow(context, { job, why, requestId, operator })
    : await triggerSlot(context, { job, slot, why, operator, ended: force === true ? 'walk-again' : 'refuse' })
}

const RELEASE = `cli ${VERSION}`

async function triggerNow(
  context: Context,
  request: { job: string; why: string | undefined; requestId: string | undefined; operator: Operator },
): Promise<Answer> {
  const { slot, status, reason } = await withService(context, (access) =>
    runNow(access, { ...request, release: RELEASE }),
  )
  return {
    json: { slot, status, reason: reason === '' ? null : reason },
    text: () => lines(slot, MEANING[status], reason),
    exit: status === 'enqueued' || status === 'repeated' ? 'well' : 'found',
  }
}

async function triggerSlot(
  context: Context,
  request: { job: string; slot: string; why: string | undefined; operator: Operator; ended: 'refuse' | 'walk-again' },
): Promise<Answer> {
  const result = await withService(context, (access) => runSlot(access, { ...request, release: RELEASE }))
  const { slot, status, reason, redriven, abandonedLeft } = result
  return {
    json: { slot, status, reason: reason === '' ? null : reason, redriven, abandonedLeft },
    text: () => [...lines(slot, slotMeaning(result), reason), ...abandonedLines(abandonedLeft)],
    exit: status === 'enqueued' || status === 'walking' ? 'well' : 'found',
  }
}

function slotMeaning({ status, redriven }: RunSlotResult): string {
  if (status === 'enqueued') return 'enqueued   (the slot itself: it runs once)'
  if (status !== 'walking') return MEANING[status]
  const dead = redriven === 0 ? '' : `, ${redriven} dead ${redriven === 1 ? 'letter' : 'letters'} queued again`
  return `walks its plan again for what has no receipt${dead}`
}

function abandonedLines(count: number): string[] {
  return count === 0
    ? []
    : [`   ${count} abandoned left alone: they may have had their effect (name them to dead retry)`]
}

function lines(slot: string, meaning: string, reason: string): string[] {
  return [` ${printable(slot)}`, `   ${meaning}`, ...(reason === '' ? [] : [`   ${printable(reason)}`])]
}
