import { oracleChanges } from './oracle.ts'

export interface ZoneTransition {
  readonly zone: string
  readonly atMs: number
  /** Equal for zones whose clocks do the same at that instant. */
  readonly likeness: string
}

export const ALL_ZONES: readonly string[] = Intl.supportedValuesOf('timeZone')

/** Every change of every zone between two instants, found by the oracle. */
export function allTransitions(fromMs: number, untilMs: number): readonly ZoneTransition[] {
  return ALL_ZONES.flatMap((zone) =>
    oracleChanges(zone, fromMs, untilMs).map(({ atMs, offsets }) => ({ zone, atMs, likeness: `${atMs} ${offsets}` })),
  )
}
