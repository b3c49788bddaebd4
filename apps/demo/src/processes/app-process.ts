import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { keepWithUs } from './keeper.ts'

/** One line that an app wrote, read as JSON where it is JSON. */
export interface AppLine {
  readonly text: string
  readonly fields: Readonly<Record<string, unknown>>
}

export interface AppProcess {
  /** Its id in the log and in the ledger: `replica-3`, `worker-1`. */
  readonly id: string
  readonly pid: number
  /** `stopped` is an end that was asked for; `died` is any other. */
  readonly state: 'running' | 'stopping' | 'stopped' | 'died'
  readonly ended: Promise<AppEnd>
  /** Sends SIGKILL: no cleaning up, as when a machine goes. */
  kill(): Promise<AppEnd>
  /** Sends SIGTERM, and SIGKILL where it has not ended by the deadline. */
  stop(deadlineMs: number): Promise<AppEnd>
}

export interface AppEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** The last lines it wrote. */
  readonly lastLines: readonly string[]
}

export interface AppStart {
  readonly app: 'service' | 'worker' | 'console'
  readonly id: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly onLine: (line: AppLine) => void
  readonly onEnd: (process: AppProcess, end: AppEnd) => void
}

const LAST_LINES = 8

/** From sources or built, as this file itself. */
const MAIN = import.meta.url.endsWith('.ts') ? 'src/main.ts' : 'dist/main.js'

/** Runs an app as a process of its own group, so that a Ctrl-C in the terminal reaches the demo alone. */
export function startApp({ app, id, env, onLine, onEnd }: AppStart): AppProcess {
  const file = fileURLToPath(new URL(`../../../${app}/${MAIN}`, import.meta.url))
  const child = spawn(process.execPath, [...process.execArgv, file], {
    env: { ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const { pid } = child
  if (pid === undefined) throw new Error(`could not start ${file}`)
  const keeper = keepWithUs(pid)
  const lastLines: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (text) => {
      lastLines.push(text)
      if (lastLines.length > LAST_LINES) lastLines.shift()
      onLine(readLine(text))
    })
  }
  let state: AppProcess['state'] = 'running'
  const ended = new Promise<AppEnd>((resolve) => {
    child.once('close', (code, signal) => {
      keeper.release()
      state = state === 'stopping' ? 'stopped' : 'died'
      const end = { code, signal, lastLines }
      onEnd(started, end)
      resolve(end)
    })
  })
  const started: AppProcess = {
    id,
    pid,
    ended,
    get state() {
      return state
    },
    kill() {
      if (state === 'running') state = 'stopping'
      child.kill('SIGKILL')
      return ended
    },
    stop(deadlineMs) {
      if (state === 'running') {
        state = 'stopping'
        child.kill('SIGTERM')
      }
      const timer = setTimeout(() => child.kill('SIGKILL'), deadlineMs)
      void ended.finally(() => clearTimeout(timer))
      return ended
    },
  }
  return started
}

function readLine(text: string): AppLine {
  try {
    const fields: unknown = text.startsWith('{') ? JSON.parse(text) : undefined
    return { text, fields: typeof fields === 'object' && fields !== null ? (fields as AppLine['fields']) : {} }
  } catch {
    return { text, fields: {} }
  }
}
