import type { Terminal } from './terminal.ts'
import { printable } from './text/printable.ts'

/** How far something is. */
export interface Progress {
  readonly ended: number
  readonly total: number
  /** What is in hand; undefined at the end. */
  readonly slot: string | undefined
  readonly state: string
}

const BAR = 18

/** Erases what is left of the line that was there before. */
const CLEAR_REST = '\u001b[K'

/** Shows progress on standard error: one line drawn anew where somebody looks, else a line for each change. */
export class ProgressLine {
  readonly #terminal: Terminal
  #shown = ''
  #isOpen = false

  constructor(terminal: Terminal) {
    this.#terminal = terminal
  }

  /** Lines of their own, before the first progress. */
  say(lines: readonly string[]): void {
    this.#terminal.err(`${lines.join('\n')}\n`)
  }

  show(progress: Progress): void {
    const line = progressText(progress)
    if (line === this.#shown) return
    this.#shown = line
    const isRedrawn = this.#terminal.progress === 'redrawn'
    this.#isOpen = isRedrawn
    this.#terminal.err(isRedrawn ? `\r${line.slice(0, this.#terminal.width - 1)}${CLEAR_REST}` : `${line}\n`)
  }

  end(): void {
    if (this.#isOpen) this.#terminal.err('\n')
    this.#isOpen = false
  }
}

/** ` [#########---------]  3/5  report@20261104T010000Z running`. */
export function progressText({ ended, total, slot, state }: Progress): string {
  const full = total === 0 ? BAR : Math.floor((ended / total) * BAR)
  const bar = `${'#'.repeat(full)}${'-'.repeat(BAR - full)}`
  return ` [${bar}]  ${ended}/${total}  ${slot === undefined ? '' : `${printable(slot)} `}${printable(state)}`
}
