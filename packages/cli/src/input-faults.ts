import { CronceError, isCronceError } from '@cronce/core'

/** Gathers what is wrong with a command's options, so that all of it is said at once. */
export class InputFaults {
  readonly #found: CronceError[] = []

  /** What `read` answers; undefined where it refuses, which is kept for {@link raise}. */
  take<T>(read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      if (!isCronceError(error)) throw error
      this.#found.push(error)
      return undefined
    }
  }

  add(reason: string): void {
    this.#found.push(new CronceError('CRONCE_USAGE', { reason }))
  }

  /** @throws CronceError the one fault, or CRONCE_USAGE for several */
  raise(): void {
    const [first, ...others] = this.#found
    if (first === undefined) return
    if (others.length === 0) throw first
    throw new CronceError('CRONCE_USAGE', { reason: this.#found.map(({ message }) => message).join('; ') })
  }
}
