import type { StoredPause } from '@cronce/store'
import { utcText } from './instant-text.ts'

/** `paused by ann until 2026-11-28T12:00:00Z: registry moves`. */
export function pauseText({ state, by, note, untilAt, missed }: StoredPause): string {
  const until = untilAt === undefined ? '' : ` until ${utcText(untilAt)}`
  const what = state === 'resuming' ? `resuming, was paused by ${by}` : `paused by ${by}${until}`
  return `${what}${note === '' ? '' : `: ${note}`}${missed === 'catch-up' ? ' (missed slots catch up)' : ''}`
}
