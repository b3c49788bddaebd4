import type { Gap } from './cuts.ts'
import { readReply } from './reply.ts'
import type { Store } from './store.ts'

/** T12: records and gaps of slots that did not run for one reason, oldest first, with no other record or gap between. */
export interface Neighbours extends Pick<Gap, 'state' | 'reason'> {
  /** Two or more; a record is a part that covers its instant alone. */
  readonly parts: readonly Pick<Gap, 'fromAt' | 'toAt' | 'count'>[]
}

export interface NeighbourQuery {
  /** The start of the generation: what is older is left as it is. */
  readonly sinceAt: number
  /** How many of the newest records are left as they are. */
  readonly keep: number
}

/** Looks at up to 100 records and as many gaps, from where the fleet's last look ended. */
export async function findNeighbours(
  store: Store,
  job: string,
  { sinceAt, keep }: NeighbourQuery,
): Promise<{ hasMore: boolean; chains: Neighbours[] }> {
  const reply = readReply(await store.job(job, 'neighbours', [sinceAt, keep]))
  const hasMore = reply.number() === 1
  const chains: Neighbours[] = []
  while (reply.more()) {
    const [state, reason, length] = [reply.text() as Gap['state'], reply.text(), reply.number()]
    const parts = Array.from({ length }, () => ({
      fromAt: reply.number(),
      toAt: reply.number(),
      count: reply.number(),
    }))
    chains.push({ state, reason, parts })
  }
  return { hasMore, chains }
}

/** Makes one gap of neighbours. `moved`: something there is another by now, and nothing was changed. */
export async function mergeNeighbours(
  store: Store,
  job: string,
  { generation, gap }: { generation: number; gap: Gap },
): Promise<'merged' | 'moved'> {
  const { fromAt, toAt, count, state, reason } = gap
  const [answer] = await store.job(job, 'merge', [generation, fromAt, toAt, count, state, reason])
  return answer === 'merged' ? 'merged' : 'moved'
}

/** A gap, and how many of its slots each UTC day has. */
export interface DatedGap extends Pick<Gap, 'fromAt' | 'toAt' | 'count'> {
  readonly days: readonly { readonly day: string; readonly count: number }[]
}

/** Folds gaps into the sums of their days, at most 100. Answers how many; one that is another by now is left. */
export async function foldGaps(store: Store, job: string, gaps: readonly DatedGap[]): Promise<number> {
  const args = gaps.flatMap(({ fromAt, toAt, count, days }) => {
    return [fromAt, toAt, count, days.length, ...days.flatMap((each) => [each.day, each.count])]
  })
  const [folded] = await store.job(job, 'fold-gaps', args)
  return Number(folded)
}
