import type { AlarmEntry } from './alarms.ts'
import { readReply } from './reply.ts'
import type { ScriptArgument, Store } from './store.ts'

/** An alarm on its way to people, and how far it came. */
export interface AlarmLetter {
  readonly entry: AlarmEntry
  readonly attempts: number
  /** Names of the notifiers that took it. */
  readonly delivered: readonly string[]
}

/** What became of a letter. `again` undefined: it leaves the outbox. */
export interface LetterOutcome extends AlarmLetter {
  readonly againAt: number | undefined
}

/** Takes the letters that are to be delivered now; where this process dies, another finds them `putOffMs` later. */
export async function takeLetters(
  store: Store,
  request: { putOffMs: number; most: number },
): Promise<{ now: number; letters: AlarmLetter[] }> {
  const reply = readReply(await store.span('alarm-letters', [request.putOffMs, request.most]))
  const now = reply.number()
  const letters: AlarmLetter[] = []
  while (reply.more()) {
    reply.text()
    const [entry, tries] = [reply.text(), reply.text()]
    const before =
      tries === '' ? { attempts: 0, delivered: [] } : (JSON.parse(tries) as Pick<AlarmLetter, 'attempts' | 'delivered'>)
    if (entry !== '') letters.push({ entry: JSON.parse(entry) as AlarmEntry, ...before })
  }
  return { now, letters }
}

/** Writes what became of letters, and what is to be in the journal besides. */
export async function settleLetters(
  store: Store,
  outcomes: readonly LetterOutcome[],
  journal: readonly Omit<AlarmEntry, 'id'>[],
): Promise<void> {
  if (outcomes.length + journal.length === 0) return
  const args = outcomes.flatMap(({ entry, attempts, delivered, againAt }): ScriptArgument[] => [
    ...[entry.id, againAt ?? '', JSON.stringify({ attempts, delivered })],
  ])
  await store.span('alarm-delivered', [outcomes.length, ...args, ...journal.map((entry) => JSON.stringify(entry))])
}
