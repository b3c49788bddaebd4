import type { Command } from 'commander'
import type { RunsOptions } from '../verbs/runs.ts'
import type { TriggerOptions } from '../verbs/trigger.ts'
import type { WatchOptions } from '../watch.ts'
import { examples } from './examples.ts'
import type { RunVerb } from './run-verb.ts'
import { watched } from './watched.ts'

/** `runs`, `show` and `trigger`. */
export function registerRuns(program: Command, run: RunVerb): void {
  watched(
    program
      .command('runs')
      .description('what became of the last slots, newest first; those that did not run too')
      .option('--job <name>', 'of one job (default: of all)')
      .option('--state <state>', 'only those in this state')
      .option('--last <n>', 'how many (default: 20)')
      .option('--cursor <cursor>', '`next` of an earlier answer: older ones'),
  )
    .addHelpText(
      'after',
      examples(
        'cronce runs --job package-report --last 4',
        'cronce runs --state failed --json',
        'cronce runs --state running --watch',
      ),
    )
    .action((options: RunsOptions & WatchOptions) =>
      run(async (context) => (await import('../verbs/runs.ts')).runs(context, options), options),
    )
  watched(
    program
      .command('show')
      .description('one slot: its record, what happened to it, its dead letters')
      .argument('<slot>', 'a slot key, whole, from `cronce runs`'),
  )
    .addHelpText('after', examples('cronce show package-report@20261127T010000Z'))
    .action((slot: string, options: WatchOptions) =>
      run(async (context) => (await import('../verbs/show.ts')).show(context, slot), options),
    )
  program
    .command('trigger')
    .description('runs a job now, under an identity of its own, or one slot that did not run')
    .argument('<job>', 'the name of a job')
    .option('--slot <slot>', 'this slot of its schedule: 20261127T010000Z, or a whole slot key')
    .option('--force', 'with --slot: where it has ended, walks its plan again for what has no receipt')
    .option('--why <text>', 'kept with the run')
    .option('--request-id <id>', 'the same id is the same run: trying again starts nothing twice')
    .option('--as <name>', 'who asks (default: the user of this machine)')
    .addHelpText(
      'after',
      examples(
        'cronce trigger package-report --why "incident 4711"',
        'cronce trigger package-report --slot 20261127T010000Z',
      ),
    )
    .action((job: string, options: TriggerOptions) =>
      run(async (context) => (await import('../verbs/trigger.ts')).trigger(context, job, options)),
    )
}
