import { Command } from 'commander'
import { registerControl } from './commands/control.ts'
import { registerDead } from './commands/dead.ts'
import { examples } from './commands/examples.ts'
import type { RunVerb } from './commands/run-verb.ts'
import { registerRuns } from './commands/runs.ts'
import { registerSchedules } from './commands/schedules.ts'
import { registerService } from './commands/service.ts'
import { VERSION } from './version.ts'

/** How the program prints help and its own refusals. */
export interface ProgramOutput {
  help(text: string): void
}

/** The whole program: every verb with its options and examples. Throws commander's errors instead of ending the process. */
export function createProgram(run: RunVerb, output: ProgramOutput): Command {
  const program = new Command('cronce')
    .description('scheduled jobs that run once per slot: what ran, what did not, and why')
    .version(VERSION)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true, helpWidth: 80 })
    .configureOutput({
      writeOut: (text) => output.help(text),
      writeErr: (text) => output.help(text),
      // Refusals are thrown, and worded in one place.
      outputError: () => undefined,
    })
    .option('--json', 'one JSON object on standard output and nothing else')
    .option('--service <name>', 'the namespace of jobs (default: CRONCE_SERVICE)')
    .option('--redis <url>', 'where Redis is (default: REDIS_URL, else the running npm start)')
    .option('--jobs <module>', 'the module that exports the definitions (default: @cronce/jobs)')
    .option('--no-color', 'without colours')
    .addHelpText(
      'after',
      `${examples("cronce next --cron '0 2 * * *' --zone Europe/Berlin")}
Exit: 0 well, 1 found something wrong, 2 used wrongly or refused, 3 Redis out of reach.`,
    )
  registerService(program, run)
  registerSchedules(program, run)
  registerRuns(program, run)
  registerControl(program, run)
  registerDead(program, run)
  return program
}
