const UNITS: readonly (readonly [ms: number, unit: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
]

/** `14 min`, `5 h 46 min`, `0.3 s`, `6 ms`. */
export function lengthText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1).replace('.0', '')} s`
  const at = UNITS.findIndex(([size]) => ms >= size)
  const [size, unit] = UNITS[at] as readonly [number, string]
  const count = Math.floor(ms / size)
  const below = UNITS[at + 1]
  const rest = below === undefined ? 0 : Math.floor((ms - count * size) / below[0])
  // Two parts at most, the second only where it says something.
  return below === undefined || rest === 0 || count > 20 ? `${count} ${unit}` : `${count} ${unit} ${rest} ${below[1]}`
}

/** `2026-11-29 01:00:07Z`. */
export function utcText(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}Z`
}

/** `2026-11-29 01:00:07.042Z`: where what happened within one second is told apart. */
export function exactText(at: number): string {
  return new Date(at).toISOString().replace('T', ' ')
}

/** `in 8 s`, `14 min ago`. */
export function fromNowText(at: number, now: number): string {
  const ms = at - now
  if (Math.abs(ms) < 1_000) return 'now'
  return ms > 0 ? `in ${lengthText(ms)}` : `${lengthText(-ms)} ago`
}

export function numberText(value: number): string {
  return value.toLocaleString('en-US').replaceAll(',', ' ')
}

/** `1 worker`, `3 workers`. */
export function countText(count: number, noun: string): string {
  return `${numberText(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** `12 400 of 20 000`, dead ones beside it. Empty before anything is planned. */
export function entitiesText(counts: {
  planned: number
  done: number
  dead: number
  abandoned: number
  skipped: number
}): string {
  const { planned, done, dead, abandoned, skipped } = counts
  if (planned === 0) return ''
  const others = Object.entries({ dead, abandoned, skipped }).filter(([, count]) => count > 0)
  return [
    `${numberText(done)} of ${numberText(planned)} done`,
    ...others.map(([name, count]) => `${numberText(count)} ${name}`),
  ].join(', ')
}
