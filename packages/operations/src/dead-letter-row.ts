import { parseSlotId, type SlotId, type SlotKey, slotKeyOf } from '@cronce/core'
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
  return heads.map((head) =>
    head === undefined || parseSlotId(head.slotId) === undefined
      ? undefined
      : { ...head, job, slot: slotKeyOf({ job, id: head.slotId }) },
  )
}
