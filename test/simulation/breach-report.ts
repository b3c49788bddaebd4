import { formatSlotId, formatSlotKey, parseSlotId, type SlotId, type SlotKey, slotIdOf } from '@cronce/core'
import { listGaps, listSlots, readJob, readSlotEvents, type Store } from '@cronce/store'
import type { SimulationResult } from './simulation.ts'

/** Breaches that are told with their history. */
const MOST_TOLD = 3

/** What a failing seed prints: its number, what was done to the fleet, what broke, and the history of the slots that broke. */
export async function tellBreaches(
  store: Store,
  { seed, story, breaches }: Pick<SimulationResult, 'seed' | 'story' | 'breaches'>,
): Promise<string[]> {
  if (breaches.length === 0) return []
  const lines = [`seed ${seed} broke; again: npm run simulate -- --seed ${seed}`, ...story.map((line) => `  ${line}`)]
  for (const { rule, job, slot, problem, reason, at } of breaches.slice(0, MOST_TOLD)) {
    lines.push(`  seed ${seed}: ${rule}: ${slot ?? job} ${problem}: ${reason}; seen ${new Date(at).toISOString()}`)
    lines.push(...(await describeSlot(store, job, slot)).map((line) => `    ${line}`))
  }
  return lines
}

const MOST_SLOTS = 2_000

/** The history of a slot and of what is around it, for whoever has to find out why. */
async function describeSlot(store: Store, job: string, slot: SlotKey | undefined): Promise<string[]> {
  const stored = await readJob(store, job)
  const lines = [`job ${JSON.stringify({ ...stored, settings: undefined })}`]
  if (slot === undefined) return lines
  const id: SlotId = slotIdOf(slot)
  const at = parseSlotId(id)?.at ?? 0
  lines.push(`slot ${formatSlotKey({ job, at })}`)
  for (const { at: when, event, detail } of await readSlotEvents(store, job, id))
    lines.push(`  ${new Date(when).toISOString()} ${event} ${JSON.stringify(detail)}`)
  for (const near of (
    await listSlots(store, job, { untilAt: at + 3_600_000, fromAt: at - 3_600_000, limit: MOST_SLOTS })
  ).toReversed()) {
    if (Math.abs(near.at - at) <= 600_000)
      lines.push(`  near: ${near.id} ${near.state} ${near.cause} claimed by ${near.claimedBy ?? 'nobody'}`)
  }
  for (const gap of await listGaps(store, job, { afterAt: at - 3_600_000, limit: 20 })) {
    lines.push(
      `  gap: (${formatSlotId(gap.fromAt)}, ${formatSlotId(gap.toAt)}] ${gap.count} ${gap.state}: ${gap.reason}; by ${gap.by} at ${new Date(gap.recordedAt).toISOString()}`,
    )
  }
  return lines
}
