/** Where the live view appears. */
export interface Screen {
  /** Shows a frame in place of the one before; nothing where the output is no terminal. */
  draw(lines: readonly string[]): void
  /** Says one thing that happened, for outputs that are no terminal. */
  say(line: string): void
  readonly columns: number
  close(): void
}

const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'
const HOME = '\u001b[H'
const CLEAR_LINE_END = '\u001b[K'
const CLEAR_BELOW = '\u001b[J'
const CLEAR_ALL = '\u001b[2J'

/** Redraws in place on a terminal; elsewhere it is a few lines of text, so that a log of it can be read. */
export function openScreen(output: NodeJS.WriteStream): Screen {
  if (!output.isTTY) {
    return {
      columns: 120,
      draw: () => undefined,
      say: (line) => void output.write(`${line}\n`),
      close: () => undefined,
    }
  }
  output.write(HIDE_CURSOR + CLEAR_ALL)
  return {
    get columns() {
      return output.columns
    },
    draw: (lines) => {
      // More lines than the terminal has would scroll, and the next frame would not cover this one.
      const shown = lines.slice(0, output.rows - 1)
      output.write(HOME + shown.map((line) => `${line}${CLEAR_LINE_END}\n`).join('') + CLEAR_BELOW)
    },
    say: () => undefined,
    close: () => void output.write(SHOW_CURSOR),
  }
}
