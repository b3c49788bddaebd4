import { type CronceError, isCronceError } from '@cronce/core'
import type { Answer } from './answer.ts'
import type { Terminal } from './terminal.ts'
import { isoText } from './text/instant-text.ts'
import { printable, printableJson } from './text/printable.ts'

/** What a watch has read: an answer, or why there is none this time. */
export type Reading = Answer | CronceError

/** A line of JSON for each reading. */
export class JsonReadings {
  readonly #terminal: Terminal

  constructor(terminal: Terminal) {
    this.#terminal = terminal
  }

  async show(reading: Reading): Promise<void> {
    const json = isCronceError(reading) ? { error: { code: reading.code, message: reading.message } } : reading.json
    await this.#terminal.out(`${printableJson(json)}\n`)
  }
}

/** To the first column of the first line; what a line, or the screen, had more than the new one is erased. */
const HOME = '\u001b[H'
const CLEAR_LINE = '\u001b[K'
const CLEAR_BELOW = '\u001b[J'
const CLEAR_ALL = '\u001b[2J'

/** The terminal drawn anew for each reading, or one after the other where there is none. */
export class TextReadings {
  readonly #terminal: Terminal
  readonly #everyMs: number
  #lines: readonly string[] = []
  #shownAt = 0
  #isCleared = false

  constructor(terminal: Terminal, everyMs: number) {
    this.#terminal = terminal
    this.#everyMs = everyMs
  }

  async show(reading: Reading, now: number): Promise<void> {
    const { height, paint } = this.#terminal
    if (isCronceError(reading)) {
      const message = paint(` ${printable(reading.message)}`, 'bad')
      const note = ` what is shown is from ${isoText(this.#shownAt)}`
      return height === undefined
        ? this.#terminal.err(`${message}\n`)
        : await this.#draw([message, note, ...this.#lines])
    }
    this.#lines = reading.text()
    this.#shownAt = now
    const head = paint(` ${isoText(now)}   every ${this.#everyMs / 1_000} s   Ctrl-C ends`, 'dim')
    if (height === undefined) return await this.#terminal.out(`${[head, ...this.#lines].join('\n')}\n`)
    await this.#draw([head, ...this.#lines])
  }

  async #draw(lines: readonly string[]): Promise<void> {
    const { height = 0 } = this.#terminal
    const isCut = lines.length > height - 1
    const shown = isCut ? [...lines.slice(0, height - 2), ` ... ${lines.length - height + 2} lines more`] : lines
    const begin = this.#isCleared ? HOME : `${CLEAR_ALL}${HOME}`
    this.#isCleared = true
    await this.#terminal.out(`${begin}${shown.map((line) => `${line}${CLEAR_LINE}\n`).join('')}${CLEAR_BELOW}`)
  }
}
