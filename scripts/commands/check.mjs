import { install } from '../bootstrap/install.mjs'
import { oneAtATime } from '../bootstrap/lock.mjs'
import { runSteps } from '../check/step.mjs'
import { RULES } from '../check/steps.mjs'

/** The quick check before a commit: format, types, lint, boundaries, unused code, unit tests. */
export async function check() {
  await oneAtATime(install)
  const unit = { name: 'unit tests', command: 'vitest', args: ['run', '--project=unit', '--reporter=dot'] }
  const failed = await runSteps([...RULES, unit])
  console.log(failed.length === 0 ? 'check passed' : `check failed: ${failed.join(', ')}`)
  return failed.length === 0 ? 0 : 1
}
