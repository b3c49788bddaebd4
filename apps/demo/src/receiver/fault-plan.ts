/** One entity that the receiver fails on purpose. */
export interface PlannedFault {
  readonly status: 402 | 503
  /** The first this many calls are refused, the next are not. */
  readonly calls: number
}

/** Entities that the receiver fails on purpose, by key. Only the receiver knows: workers meet it as they would meet any. */
export type FaultPlan = ReadonlyMap<string, PlannedFault>

/** Entities that die because the receiver declines them as often as they are tried. */
export const DECLINED = 3
const STUMBLING = 20

/**
 * Declines three entities until their attempts are used up, so that they die and a redrive saves them, and stumbles once
 * over twenty others, so that they are tried again.
 *
 * @param entities at least 46 keys.
 * @param declines how often it declines them: as often as the job tries an entity, or for ever.
 */
export function planFaults(entities: readonly string[], declines: number): FaultPlan {
  const plan = new Map<string, PlannedFault>()
  for (const entity of spread(entities, STUMBLING)) plan.set(entity, { status: 503, calls: 1 })
  for (const entity of spread(entities, DECLINED)) plan.set(entity, { status: 402, calls: declines })
  return plan
}

/** `count` of the elements, evenly spread, none of them the first or the last. */
function spread(elements: readonly string[], count: number): string[] {
  const step = elements.length / (count + 1)
  return Array.from({ length: count }, (_, index) => elements[Math.floor(step * (index + 1))]).filter(
    (element) => element !== undefined,
  )
}
