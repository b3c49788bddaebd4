import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { ROOT } from './folders.mjs'
import { atOurEnd } from './keeper.mjs'
import { environment } from './program.mjs'

// A terminal's Ctrl-C reaches us from the terminal and from npm: within this time they are one and the same.
const SAME_SIGNAL_MS = 500
const LAST_WORDS_MS = 1000
const ORPHAN_LOOK_MS = 300
const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])

// If we are killed, what we ran is asked to end, so that it can end its own children, and killed if it does not.
const END_CHILD =
  'kill -TERM "$1" 2>/dev/null; n=0; while kill -0 "$1" 2>/dev/null && [ $n -lt 50 ]; do sleep 0.1; n=$((n+1)); done; kill -KILL "$1" 2>/dev/null'

/**
 * Runs node on `args` in the foreground and answers its exit code (128 + n for a signal). The first signal is passed on
 * and its end awaited; a second one kills it.
 *
 * @param {string[]} args
 * @param {Record<string, string | undefined>} [env]
 * @returns {Promise<number>}
 */
export async function runInForeground(args, env = {}) {
  // In a terminal the child must stay in our group, to read keys; Ctrl-C then reaches it from there, not through us.
  const inTerminal = process.stdin.isTTY
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: environment(env),
    stdio: 'inherit',
    detached: !inTerminal,
  })
  const keeper = child.pid === undefined ? undefined : atOurEnd(END_CHILD, [String(child.pid)])
  const stopPassing = passSignals(
    (signal) => {
      if (!(inTerminal && signal === 'SIGINT')) child.kill(signal)
    },
    () => setTimeout(() => child.kill('SIGKILL'), LAST_WORDS_MS).unref(),
  )
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGTERM']))
    })
  } finally {
    stopPassing()
    keeper?.release()
  }
}

/**
 * @param {(signal: NodeJS.Signals) => void} pass Called with each signal that counts.
 * @param {() => void} kill Called with the second one too.
 */
function passSignals(pass, kill) {
  const parent = process.ppid
  let lastAt = -Infinity
  let count = 0
  const onSignal = (/** @type {NodeJS.Signals} */ signal) => {
    const now = performance.now()
    if (now - lastAt < SAME_SIGNAL_MS) return
    lastAt = now
    count += 1
    pass(signal)
    if (count > 1) kill()
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  // npm, killed: nobody is left to pass us a signal.
  const orphanWatch = setInterval(() => {
    if (process.ppid !== parent && count === 0) onSignal('SIGTERM')
  }, ORPHAN_LOOK_MS)
  return () => {
    clearInterval(orphanWatch)
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
}
