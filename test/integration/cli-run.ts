import { runCli } from '@cronce/cli'
import { systemClock } from '@cronce/core'
import { ROOT } from '../support/config.ts'
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

/** The command, as a process of its own runs it. */
export const CLI = new URL('../../packages/cli/src/bin.ts', import.meta.url)

/** What would let this machine's settings into a test. */
const UNSET = { CRONCE_SERVICE: undefined, NO_COLOR: undefined }

/** Runs the real command as a process of its own and waits for its end. */
export async function cronce(args: readonly string[], options: CliOptions = {}): Promise<CliRun> {
  const child = await spawnProcess({
    file: CLI,
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
  return finished({ code, out: of('out'), err: of('err') })
}

/** Runs the same command in this process: a tenth of the time, for tests that are not about the process. */
export async function cronceHere(args: readonly string[], target: { url: string; service: string }): Promise<CliRun> {
  const written = { out: '', err: '' }
  const code = await runCli({
    args,
    clock: systemClock,
    folder: ROOT,
    environment: () => ({ REDIS_URL: target.url, CRONCE_SERVICE: target.service }),
    terminal: {
      out: async (text) => void (written.out += text),
      err: (text) => void (written.err += text),
      width: 80,
      paint: (text) => text,
    },
  })
  return finished({ code, ...written })
}

function finished(run: Omit<CliRun, 'json'>): CliRun {
  return {
    ...run,
    json: () => {
      if (!run.out.endsWith('\n') || run.out.indexOf('\n') !== run.out.length - 1) {
        throw new Error(`not one line: ${run.out.slice(0, 2000)}`)
      }
      return JSON.parse(run.out) as unknown
    },
  }
}

/** The `error` of a refused call with `--json`. */
export function errorOf(run: CliRun): { code: string; message: string } {
  return (run.json() as { error: { code: string; message: string } }).error
}
