/** Names ordered by when they are due. What it costs grows with what is due, not with what there is. */
export interface DueQueue {
  /** Sets when a name is due; Infinity: never. */
  set(name: string, at: number): void
  delete(name: string): void
  /** Removes and answers the names that are due, earliest first. */
  takeDue(now: number): string[]
  /** When the next name is due; Infinity where none is. */
  earliest(): number
}

interface Entry {
  readonly at: number
  readonly name: string
}

/** A binary heap; an entry that was set anew since stays in it until it comes to the top. */
export function createDueQueue(): DueQueue {
  const heap: Entry[] = []
  const current = new Map<string, number>()

  const isStale = ({ at, name }: Entry) => current.get(name) !== at

  function rise(index: number): void {
    for (let child = index; child > 0; ) {
      const parent = (child - 1) >> 1
      if (atOf(heap, parent) <= atOf(heap, child)) return
      swap(heap, parent, child)
      child = parent
    }
  }

  function sink(): void {
    for (let parent = 0; ; ) {
      const left = 2 * parent + 1
      const smaller = atOf(heap, left + 1) < atOf(heap, left) ? left + 1 : left
      if (left >= heap.length || atOf(heap, parent) <= atOf(heap, smaller)) return
      swap(heap, parent, smaller)
      parent = smaller
    }
  }

  function removeTop(): Entry | undefined {
    const top = heap[0]
    const last = heap.pop()
    if (heap.length > 0 && last !== undefined) {
      heap[0] = last
      sink()
    }
    return top
  }

  function dropStale(): void {
    for (let top = heap[0]; top !== undefined && isStale(top); top = heap[0]) removeTop()
  }

  return {
    set(name, at) {
      if (current.get(name) === at) return
      if (at === Number.POSITIVE_INFINITY) {
        current.delete(name)
        return
      }
      current.set(name, at)
      heap.push({ at, name })
      rise(heap.length - 1)
    },
    delete: (name) => current.delete(name),
    takeDue(now) {
      const names: string[] = []
      for (dropStale(); atOf(heap, 0) <= now; dropStale()) {
        const top = removeTop()
        if (top === undefined) break
        current.delete(top.name)
        names.push(top.name)
      }
      return names
    },
    earliest() {
      dropStale()
      return atOf(heap, 0)
    },
  }
}

function atOf(heap: readonly Entry[], index: number): number {
  return heap[index]?.at ?? Number.POSITIVE_INFINITY
}

function swap(heap: Entry[], a: number, b: number): void {
  const [first, second] = [heap[a], heap[b]]
  if (first === undefined || second === undefined) return
  heap[a] = second
  heap[b] = first
}
