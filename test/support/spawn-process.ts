import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { childEnv, ROOT } from './config.ts'
import { LineCutter, type LogLine } from './log-line.ts'
import { type Keeper, keepProcess } from './process-keeper.ts'
import { waitUntil } from './wait-until.ts'

type LineMatch = string | RegExp | ((line: LogLine) => boolean)

export interface SpawnOptions {
  /** What to run, relative to the project's root: a `.ts` file (through tsx, from sources) or a built `.js` file. */
  readonly file: string | URL
  readonly args?: readonly string[]
  /** Added to our environment, from which `REDIS_URL` is taken out. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Which of our packages' code it loads: as it stands, or as it was built last, which is what users run. Default `source`. */
  readonly packages?: 'source' | 'built'
  /** Flags of node itself, such as `--require` of something. */
  readonly nodeArgs?: readonly string[]
  /** Default: the project's root. */
  readonly cwd?: string
  /** The line that means ready: a part of its text, an expression or a function. Without it, started is ready. */
  readonly ready?: LineMatch
  /** How long until ready. Default 20 000. */
  readonly timeoutMs?: number
}

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface LineWait {
  readonly timeoutMs?: number
  /** Look only at lines from this index on (`process.lines.length` before the act). Default 0: also those of the past. */
  readonly from?: number
}

export interface SpawnedProcess {
  readonly pid: number
  /** All lines so far, of both streams, in the order of arrival. */
  readonly lines: readonly LogLine[]
  /** Resolves when the process has ended and its streams are read. */
  readonly exited: Promise<Exit>
  /** The first line that matches, of the past as well. Fails early when the process ends without one. */
  waitForLine(match: LineMatch, wait?: LineWait): Promise<LogLine>
  /** Sends a signal and does not wait: SIGSTOP, SIGCONT, a first SIGTERM. */
  signal(signal: NodeJS.Signals): void
  /** Sends a signal, by default SIGKILL, and waits for the end. Safe after the end. */
  kill(signal?: NodeJS.Signals): Promise<Exit>
}

/**
 * Runs a file as a real process of its own: what it writes is kept as lines, and it dies with the process that started
 * it, however that dies.
 *
 * @throws Error with its last lines, when it ends or stays silent before it is ready
 * @example
 * const replica = await spawnProcess({ file: 'apps/service/src/main.ts', env: { REDIS_URL: redis.url }, ready: 'ready' })
 * await replica.waitForLine((line) => line.json?.['event'] === 'slot.claimed')
 * await replica.kill('SIGKILL')
 */
export async function spawnProcess(options: SpawnOptions): Promise<SpawnedProcess> {
  const file = options.file instanceof URL ? fileURLToPath(options.file) : options.file
  const condition = options.packages === 'built' ? [] : ['--conditions=@cronce/source']
  const loader = file.endsWith('.ts') ? [...condition, `--import=${import.meta.resolve('tsx')}`] : []
  const argv = [...loader, ...(options.nodeArgs ?? []), file, ...(options.args ?? [])]
  const child = spawn(process.execPath, argv, {
    cwd: options.cwd ?? ROOT,
    env: childEnv(options.env),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  if (child.pid === undefined) throw new Error(`could not start ${file}`)
  const spawned = new ChildOfTest({ child, pid: child.pid, file })
  if (options.ready !== undefined) await spawned.waitUntilReady(options.ready, options.timeoutMs ?? 20_000)
  return spawned
}

interface Started {
  readonly child: ChildProcessByStdio<null, Readable, Readable>
  readonly pid: number
  readonly file: string
}

class ChildOfTest implements SpawnedProcess {
  readonly pid: number
  readonly lines: LogLine[] = []
  readonly exited: Promise<Exit>
  readonly #child: Started['child']
  readonly #file: string
  readonly #keeper: Keeper
  #exit: Exit | undefined

  constructor({ child, pid, file }: Started) {
    this.pid = pid
    this.#child = child
    this.#file = file
    this.#keeper = keepProcess({ pid, name: `${file} (${pid})` })
    this.#collect('out', child.stdout)
    this.#collect('err', child.stderr)
    this.exited = new Promise((resolve) => {
      child.once('close', (code, signal) => {
        this.#exit = { code, signal }
        this.#keeper.release()
        resolve(this.#exit)
      })
    })
  }

  async waitForLine(match: LineMatch, { timeoutMs = 10_000, from = 0 }: LineWait = {}): Promise<LogLine> {
    const matches = matcher(match)
    const message = () => `a line of ${this.#file} like ${String(match)}; ${this.#lastLines()}`
    let line: LogLine | undefined
    await waitUntil(() => (line = this.lines.slice(from).find(matches)) ?? this.#exit, { message, timeoutMs })
    if (line !== undefined) return line
    throw new Error(`${this.#file} ended (${this.#exit?.signal ?? this.#exit?.code}) without ${message()}`)
  }

  async waitUntilReady(match: LineMatch, timeoutMs: number): Promise<void> {
    try {
      await this.waitForLine(match, { timeoutMs })
    } catch (error) {
      await this.kill()
      throw error
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<Exit> {
    if (this.#exit === undefined) this.#child.kill(signal)
    return await this.exited
  }

  #collect(name: LogLine['stream'], stream: Readable): void {
    const cutter = new LineCutter(name)
    stream.setEncoding('utf8')
    stream.on('data', (piece: string) => this.lines.push(...cutter.push(piece)))
    stream.on('end', () => this.lines.push(...cutter.end()))
  }

  #lastLines(): string {
    const last = this.lines.slice(-20).map(({ text }) => `  ${text}`)
    return last.length === 0 ? 'it wrote nothing' : `its last lines:\n${last.join('\n')}`
  }
}

function matcher(match: LineMatch): (line: LogLine) => boolean {
  if (typeof match === 'function') return match
  return typeof match === 'string' ? ({ text }) => text.includes(match) : ({ text }) => match.test(text)
}
