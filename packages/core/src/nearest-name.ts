/**
 * The known name that `word` was probably meant to be, or undefined where none is near. A slip of one letter in five is near;
 * two letters swapped count as one slip. Letter case does not count.
 */
export function nearestName(word: string, known: readonly string[]): string | undefined {
  const wanted = word.toLowerCase().slice(0, 64)
  let nearest: string | undefined
  let least = Math.max(1, Math.floor(wanted.length / 4)) + 1
  for (const name of known) {
    if (Math.abs(name.length - wanted.length) >= least) continue
    const distance = editDistance(wanted, name.toLowerCase())
    if (distance < least) {
      least = distance
      nearest = name
    }
  }
  return nearest
}

/** Insertions, deletions, changes and swaps of neighbours (Damerau, restricted). */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1]
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
      )
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1)
      }
      current.push(cost)
    }
    beforeLast = last
    last = current
  }
  return last[to.length] ?? 0
}
