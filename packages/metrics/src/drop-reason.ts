/**
 * Why a slot did not run, in one of few words: the ledger's reasons name people, slots and notes, and would make a label of any number of
 * values.
 */
export const DROP_REASONS = {
  expired: /^expired/,
  overlap: /^overlap/,
  cancelled: /^cancelled/,
  paused: /^paused/,
  removed: /^the job was removed/,
  'too late': /catch-up window/,
  'catch-up': /^catch-up/,
  'store lost': /^store lost/,
} as const satisfies Record<string, RegExp>

export type DropReason = keyof typeof DROP_REASONS | 'other'

/** The word for a reason of the ledger. */
export function dropReason(reason: string): DropReason {
  for (const [word, pattern] of Object.entries(DROP_REASONS)) if (pattern.test(reason)) return word as DropReason
  return 'other'
}
