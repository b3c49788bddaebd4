/**
 * A bounded memory of what was computed: remembers at least the last `size` keys used, at most twice as many. Two generations, so that
 * nothing is ever walked to make room.
 */
export class RecentMap<K, V> {
  readonly #size: number
  #young = new Map<K, V>()
  #old = new Map<K, V>()

  constructor(size: number) {
    this.#size = size
  }

  get(key: K): V | undefined {
    const value = this.#young.get(key)
    if (value !== undefined) return value
    const older = this.#old.get(key)
    if (older !== undefined) this.set(key, older)
    return older
  }

  set(key: K, value: V): void {
    if (this.#young.size >= this.#size) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }
}
