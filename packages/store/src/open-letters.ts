import type { SlotId } from '@cronce/core'
import type { KeptError } from './dead-letters.ts'
import { jobKey } from './keys.ts'
import type { RunRef } from './plan.ts'
import { readReply } from './reply.ts'
import type { Store } from './store.ts'

/** What a change of many dead letters has to know of one. */
export interface OpenLetter {
  readonly id: string
  readonly slotId: SlotId
  /** Of an entity, or of the run itself: its plan or its `done`. */
  readonly of: 'entity' | 'run'
  readonly reason: string
  /** Its last death. */
  readonly at: number
}

const FIELDS = 6

/**
 * Those of these dead letters that are open, and have `text` in their newest error's `name: message` or as their reason; undefined for
 * the others. One command, however many: ask for 1,000 at most.
 */
export async function readOpenLetters(
  store: Store,
  job: string,
  { ids, text = '' }: { ids: readonly string[]; text?: string | undefined },
): Promise<(OpenLetter | undefined)[]> {
  const letters: (OpenLetter | undefined)[] = ids.map(() => undefined)
  if (ids.length === 0) return letters
  const answer = await store.job(job, 'letters', [text, ...ids])
  const reply = readReply(answer)
  for (let row = 0; row < answer.length / FIELDS; row += 1) {
    const index = reply.number() - 1
    const [slotId, of, reason] = [reply.text() as SlotId, reply.text() as OpenLetter['of'], reply.text()]
    const [at, judged] = [reply.number(), reply.number()]
    const id = ids[index] ?? ''
    if (judged === 1 || (await hasInError(store, { job, id }, text))) letters[index] = { id, slotId, of, reason, at }
  }
  return letters
}

/** How many dead letters of a run are open. */
export async function countDeadLettersOf(store: Store, run: RunRef): Promise<number> {
  return Number(await store.redis.hget(`${jobKey(store.service, run.job)}:slot:${run.id}`, 'letters')) || 0
}

async function hasInError(store: Store, { job, id }: { job: string; id: string }, text: string): Promise<boolean> {
  const line = await store.redis.lindex(`${jobKey(store.service, job)}:dead:${id}:errors`, 0)
  if (line === null) return false
  const { name, message } = JSON.parse(line) as KeptError
  return `${name}: ${message}`.includes(text)
}
