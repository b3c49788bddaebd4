/**
 * One call as the receiver's log keeps it.
 *
 * - `accepted`: the effect happened.
 * - `repeat`: the key was known; nothing happened, the caller was told so.
 * - `conflict`: the key was known with another body; refused.
 * - `refused`: the receiver failed on purpose; nothing happened.
 * - `start`: somebody says that it started a run. Taken without any check, so that a second start is seen.
 */
export interface EffectLine {
  readonly kind: 'accepted' | 'repeat' | 'conflict' | 'refused' | 'start'
  /** Epoch milliseconds. */
  readonly at: number
  readonly slot: string
  /** Empty for a start. */
  readonly entity: string
  /** The idempotency key; empty for a start, which has none. */
  readonly key: string
  readonly bodyHash: string
  /** The HTTP status that was answered. */
  readonly status: number
}

/** Reads the text of an effect log. A last line without its end was cut by a crash of the receiver and is left out. */
export function readEffectLines(text: string): EffectLine[] {
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as EffectLine)
}
