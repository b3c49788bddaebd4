import { formatSlotKey, parseSlotId, type SlotId, type SlotKey } from '@cronce/core'
import { type DeadLetterHead, readDeadLetterHeads, type Store } from '@cronce/store'

/** What a list shows of a dead letter. */
export interface DeadLetterRow extends Omit<DeadLetterHead, 'slotId'> {
  readonly job: string
  readonly slotId: SlotId
  readonly slot: SlotKey
}

/** Rows of these dead letters, in their order; undefined for those that are not there. */
export async function readDeadLetterRows(
  store: Store,
  job: string,
  ids: readonly string[],
): Promise<(DeadLetterRow | undefined)[]> {
  const heads = await readDeadLetterHeads(store, job, ids)
  return heads.map((head) => {
    const parsed = head === undefined ? undefined : parseSlotId(head.slotId)
    return head === undefined || parsed === undefined
      ? undefined
      : { ...head, job, slot: formatSlotKey({ job, ...parsed }) }
  })
}
