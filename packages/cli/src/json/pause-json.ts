import type { StoredPause } from '@cronce/store'
import { isoOrNull, isoText } from '../text/instant-text.ts'

/** A pause in JSON. */
export function pauseJson({ state, at, by, note, untilAt, missed }: StoredPause): Readonly<Record<string, unknown>> {
  return { state, by, note, since: isoText(at), until: isoOrNull(untilAt), missed }
}
