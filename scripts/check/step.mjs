import { stripVTControlCharacters } from 'node:util'
import { environment, PLAIN, runProgram } from '../bootstrap/program.mjs'

/** @typedef {{ name: string, command: string, args: string[] }} CheckStep */

/**
 * Runs the steps one after the other, shows a line for each and the output of those that fail. Answers the names of
 * these.
 *
 * @param {CheckStep[]} steps
 */
export async function runSteps(steps) {
  const failed = []
  for (const { name, command, args } of steps) {
    const startedAt = performance.now()
    const { code, output } = await runProgram(command, args, { env: environment(PLAIN) })
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`)
    if (code === 0) continue
    console.log((process.stdout.isTTY ? output : stripVTControlCharacters(output)).trimEnd())
    failed.push(name)
  }
  return failed
}
