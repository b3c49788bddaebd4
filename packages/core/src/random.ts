/** A source of chance in [0, 1). Injected, so that a run can be repeated from a seed. */
export type Random = () => number

/** The machine's chance; good for jitter, not for secrets. */
export const systemRandom: Random = () => Math.random()

/**
 * A repeatable source from a seed (mulberry32, Tommy Ettinger, public domain).
 *
 * @param seed any 32-bit integer; equal seeds give equal sequences.
 */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
