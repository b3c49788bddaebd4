const DAY_MS = 24 * 3600 * 1000

/** An instant for a sentence, UTC: `00:58Z`, or with its date where that is not within a day of now. */
export function instantText(at: number, now: number): string {
  const text = new Date(at).toISOString()
  const time = `${text.slice(11, 16)}Z`
  return Math.abs(now - at) < DAY_MS ? time : `${text.slice(0, 10)} ${time}`
}
