/** The middle value, or the upper of the two. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The value below which a share of all values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

/** Rounds to one decimal. */
export function tenth(value: number): number {
  return Math.round(value * 10) / 10
}
