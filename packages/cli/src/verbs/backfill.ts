import {
  type BackfillPlan,
  type BackfillResult,
  planBackfill,
  backfill as runBackfill,
  type ServiceAccess,
} from '@cronce/operations'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { InputFaults } from '../input-faults.ts'
import { readOperator } from '../operator-option.ts'
import { readDayOrInstant, readRate, readText } from '../option-values.ts'
import { ProgressLine } from '../progress-line.ts'
import { withService } from '../service-connection.ts'
import { backfillPlanText, backfillResultText } from '../text/backfill-text.ts'
import { isoText } from '../text/instant-text.ts'
import { VERSION } from '../version.ts'

export interface BackfillOptions {
  readonly from: string
  readonly to: string
  readonly rate?: string
  readonly preview?: boolean
  readonly why?: string
  readonly as?: string
}

const LONGEST_NOTE = 1_000

/** `backfill`: runs the slots of a range that never ran. */
export async function backfill(context: Context, job: string, options: BackfillOptions): Promise<Answer> {
  const { from, to, rate, why, preview } = options
  const faults = new InputFaults()
  const fromAt = faults.take(() => readDayOrInstant('--from', from)) ?? 0
  const toAt = faults.take(() => readDayOrInstant('--to', to)) ?? 0
  const intervalMs = rate === undefined ? undefined : faults.take(() => readRate('--rate', rate))
  const operator = faults.take(() => readOperator(options)) ?? { name: '' }
  if (why !== undefined) faults.take(() => readText('--why', why, { most: LONGEST_NOTE }))
  faults.raise()
  const range = { job, fromAt, toAt }
  if (preview === true) {
    const plan = await withService(context, ({ store }) => planBackfill(store, range))
    return {
      json: { ...planJson(plan), preview: true },
      text: () => [...backfillPlanText(plan), ' Nothing was changed (preview).'],
    }
  }
  const request = { ...range, intervalMs, operator, why, release: `cli ${VERSION}` }
  const result = await withService(context, (access) => runShown(context, access, request))
  return {
    json: { ...planJson(result.plan), preview: false, ran: result.ran, elsewhere: result.elsewhere, left: result.left },
    text: () => backfillResultText(result),
    exit: isWell(result) ? 'well' : 'found',
  }
}

type ShownRequest = Omit<Parameters<typeof runBackfill>[1], 'clock' | 'signal' | 'onPlan' | 'onProgress'>

/** Runs it with its progress on standard error; the first Ctrl-C ends it between two slots. */
async function runShown(context: Context, access: ServiceAccess, request: ShownRequest): Promise<BackfillResult> {
  const { clock, terminal } = context
  const stop = new AbortController()
  const line = new ProgressLine(terminal)
  const forget = terminal.onInterrupt?.(() => stop.abort())
  try {
    return await runBackfill(access, {
      ...{ ...request, clock, signal: stop.signal },
      onPlan: (plan) => line.say(backfillPlanText(plan)),
      onProgress: (progress) => line.show(progress),
    })
  } finally {
    line.end()
    forget?.()
  }
}

function planJson({ job, fromAt, toAt, slots, toRun, done, underWay, refused }: BackfillPlan): Answer['json'] {
  return { job, from: isoText(fromAt), to: isoText(toAt), slots, toRun: toRun.length, done, underWay, refused }
}

/** All have ended, and none of them badly. A plain BullMQ worker's run ends, for us, on its queue. */
function isWell({ ran, left }: BackfillResult): boolean {
  return left === 0 && Object.keys(ran).every((state) => state === 'succeeded' || state === 'enqueued')
}
