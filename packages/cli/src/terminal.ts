import { coloured, type Paint, plain } from './text/tone.ts'

/** Where a command writes. */
export interface Terminal {
  /** Standard output. Resolves when there is room for more. */
  out(text: string): Promise<void>
  /** Standard error. */
  err(text: string): void
  /** Columns of the terminal; 80 where the output is none. */
  readonly width: number
  readonly paint: Paint
  /** How progress is shown on standard error: on one line that is drawn anew, or a line for each step. Default `lines`. */
  readonly progress?: 'redrawn' | 'lines'
  /** Lines of the terminal that standard output is; undefined where it is none, and nothing is drawn anew. */
  readonly height?: number | undefined
  /** Calls `stop` at the first Ctrl-C instead of ending; the next one ends at once. Answers what takes it back. */
  onInterrupt?(stop: () => void): () => void
}

const DEFAULT_WIDTH = 80
const LEAST_WIDTH = 40

/** The terminal of this process. Colours only where somebody looks. */
export function processTerminal({ colour }: { colour: 'wanted' | 'unwanted' }): Terminal {
  const { stdout, stderr } = process
  return {
    out: (text) =>
      new Promise((resolve) => {
        stdout.write(text, () => resolve())
      }),
    err: (text) => void stderr.write(text),
    get width() {
      return Math.max(LEAST_WIDTH, stdout.columns ?? DEFAULT_WIDTH)
    },
    get height() {
      return stdout.isTTY ? stdout.rows : undefined
    },
    paint: stdout.isTTY && colour === 'wanted' ? coloured : plain,
    progress: stderr.isTTY ? 'redrawn' : 'lines',
    onInterrupt(stop) {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
      return () => {
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop)
      }
    },
  }
}
