import { join } from 'node:path'
import { ROOT } from './folders.mjs'
import { environment, runProgram } from './program.mjs'
import { showStep } from './progress.mjs'
import { SetupError } from './setup-error.mjs'

const ENVIRONMENT = { TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1', DO_NOT_TRACK: '1' }

/** Builds every package and app whose sources changed since it was last built. */
export async function build() {
  const step = showStep('building')
  const turbo = join(ROOT, 'node_modules', 'turbo', 'bin', 'turbo')
  const args = [turbo, 'run', 'build', '--output-logs=errors-only', '--ui=stream']
  const { code, output } = await runProgram(process.execPath, args, {
    env: environment(ENVIRONMENT),
    onLine: (line) => step.note(line),
  })
  if (code !== 0) {
    step.fail()
    throw new SetupError(`${output}\nthe build failed`)
  }
  step.done()
}
