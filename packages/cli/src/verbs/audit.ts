import { type Audit, type AuditedSlot, auditService } from '@cronce/operations'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { InputFaults } from '../input-faults.ts'
import { readDayOrInstant } from '../option-values.ts'
import { withService } from '../service-connection.ts'
import { isoText } from '../text/instant-text.ts'
import { table } from '../text/table.ts'

/** The options of `audit`, as they were typed. */
export interface AuditOptions {
  readonly from?: string
  readonly to?: string
  readonly job?: string
}

const WEEK_MS = 7 * 24 * 3600 * 1000

/** `audit`: whether the ledger has every slot that had to exist, once. */
export async function audit(context: Context, { from, to, job }: AuditOptions): Promise<Answer> {
  const faults = new InputFaults()
  const toAt = faults.take(() => (to === undefined ? context.clock.now() : readDayOrInstant('--to', to)))
  const fromAt = faults.take(() => (from === undefined ? (toAt ?? 0) - WEEK_MS : readDayOrInstant('--from', from)))
  faults.raise()
  const range = { fromAt: fromAt ?? 0, toAt: toAt ?? 0 }
  const found = await withService(context, ({ store }) =>
    auditService(store, { ...range, ...(job === undefined ? {} : { job }) }),
  )
  return {
    json: auditJson(found),
    text: () => lines(found, context),
    exit: found.outcome === 'adds-up' ? 'well' : 'found',
  }
}

function auditJson({ fromAt, toAt, jobs, expected, recorded, missing, double, unexpected, slots, unreadable }: Audit) {
  return {
    ...{ from: isoText(fromAt), to: isoText(toAt), jobs, expected, recorded, missing, double, unexpected },
    slots: slots.map(({ job, slot, problem, count, reason }) => ({ slot: slot ?? null, job, problem, count, reason })),
    unreadable,
  }
}

function lines({ jobs, expected, recorded, missing, double, unexpected, slots, unreadable }: Audit, context: Context) {
  const counts = Object.entries({ expected, recorded, missing, double, ...(unexpected > 0 ? { unexpected } : {}) })
  const sum = counts.map(([name, count]) => `${name} ${grouped(count)}`).join('  ')
  return [
    ` ${grouped(jobs)} job${jobs === 1 ? '' : 's'}  ${sum}`,
    ...(slots.length + unreadable.length === 0 ? [] : named({ slots, unreadable }, context)),
  ]
}

function named({ slots, unreadable }: Pick<Audit, 'slots' | 'unreadable'>, { terminal }: Context): string[] {
  return table({
    columns: [{ title: 'slot' }, { title: 'problem' }, { title: 'reason' }],
    rows: [
      ...slots.map((each) => [nameOf(each), each.problem, each.reason]),
      ...unreadable.map(({ job, reason }) => [job, 'unreadable', reason]),
    ],
    width: terminal.width,
    paint: terminal.paint,
    titles: 'hidden',
  })
}

function nameOf({ slot, job, count }: AuditedSlot): string {
  return slot ?? `${job} (${count} slots)`
}

/** 41212 as `41 212`. */
function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ' ')
}
