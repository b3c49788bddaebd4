import { spawnProcess } from '../support/index.ts'

/** One finished call of the command line. */
export interface CliRun {
  readonly code: number | null
  readonly out: string
  readonly err: string
  /** Standard output as the one JSON object that it is. Throws where it is anything else. */
  readonly json: () => unknown
}

export interface CliOptions {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
}

const BIN = new URL('../../packages/cli/src/bin.ts', import.meta.url)

/** What would let this machine's settings into a test. */
const UNSET = { CRONCE_SERVICE: undefined, CRONCE_JOBS: undefined, CRONCE_OPERATOR: undefined, NO_COLOR: undefined }

/** Runs the real command as a process of its own and waits for its end. */
export async function cronce(args: readonly string[], options: CliOptions = {}): Promise<CliRun> {
  const child = await spawnProcess({
    file: BIN,
    args,
    env: { ...UNSET, ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  })
  const { code } = await child.exited
  const of = (stream: 'out' | 'err') =>
    child.lines
      .filter((line) => line.stream === stream)
      .map(({ text }) => `${text}\n`)
      .join('')
  const out = of('out')
  return {
    code,
    out,
    err: of('err'),
    json: () => {
      if (!out.endsWith('\n') || out.indexOf('\n') !== out.length - 1) {
        throw new Error(`not one line: ${out.slice(0, 2000)}`)
      }
      return JSON.parse(out) as unknown
    },
  }
}

/** The `error` of a refused call with `--json`. */
export function errorOf(run: CliRun): { code: string; message: string } {
  return (run.json() as { error: { code: string; message: string } }).error
}
