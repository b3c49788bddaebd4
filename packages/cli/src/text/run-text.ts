import type { Cause, RunState } from '@cronce/core'
import type { RunRow } from '@cronce/operations'
import { durationText } from './duration-text.ts'
import type { Cell } from './table.ts'
import type { Tone } from './tone.ts'

const TONES: Readonly<Record<RunState, Tone | undefined>> = {
  due: undefined,
  claimed: undefined,
  enqueued: undefined,
  running: undefined,
  succeeded: 'good',
  partial: 'warn',
  failed: 'bad',
  abandoned: 'bad',
  skipped: 'warn',
  missed: 'bad',
}

export function stateCell(state: RunState): Cell {
  const tone = TONES[state]
  return tone === undefined ? state : { text: state, tone }
}

export function causeText(cause: Cause | undefined): string {
  return cause === undefined ? '-' : cause.replace('on-time', 'on time')
}

export function durationCell(durationMs: number | undefined): string {
  return durationMs === undefined ? '-' : durationText(durationMs)
}

/** `19998 ok  2 dead`, or why there are none. */
export function entitiesText({ state, entities, reason, gap }: RunRow): string {
  const { done, dead, abandoned, skipped } = entities
  const counts = [
    done > 0 || state === 'succeeded' || state === 'running' ? `${done} ok` : '',
    dead > 0 ? `${dead} dead` : '',
    abandoned > 0 ? `${abandoned} abandoned` : '',
    skipped > 0 ? `${skipped} skipped` : '',
    gap === undefined || gap.count === 1 ? '' : `${gap.count} slots`,
    reason ?? '',
  ]
  return counts.filter((count) => count !== '').join('  ') || '-'
}
