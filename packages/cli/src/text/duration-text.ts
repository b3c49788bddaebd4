const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

/** A length of time for people, in its two largest units: `6 ms`, `41 s`, `12 m 4 s`. */
export function durationText(durationMs: number): string {
  const rounded = Math.max(0, durationMs < 1_000 ? Math.round(durationMs) : Math.floor(durationMs / 1_000) * 1_000)
  if (rounded < 1_000) return `${rounded} ms`
  const largest = UNITS.findIndex(([, unitMs]) => rounded >= unitMs)
  let restMs = rounded
  const parts = UNITS.slice(largest, largest + 2).map(([unit, unitMs]) => {
    const count = Math.floor(restMs / unitMs)
    restMs -= count * unitMs
    return count === 0 ? '' : `${count} ${unit}`
  })
  return parts.filter((part) => part !== '').join(' ')
}
