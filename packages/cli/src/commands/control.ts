import type { Command } from 'commander'
import type { BackfillOptions } from '../verbs/backfill.ts'
import type { PauseOptions } from '../verbs/pause.ts'
import type { ResumeOptions } from '../verbs/resume.ts'
import { examples } from './examples.ts'
import type { RunVerb } from './run-verb.ts'

/** `backfill`, `pause` and `resume`. */
export function registerControl(program: Command, run: RunVerb): void {
  program
    .command('backfill')
    .description('runs the slots of a range that never ran, oldest first, one after another')
    .argument('<job>', 'the name of a job')
    .requiredOption('--from <day>', 'a UTC day, or an instant: the first slots of the range')
    .requiredOption('--to <day>', 'likewise; slots before it')
    .option('--rate <rate>', 'at most so many starts: 2/min, 30/h (default: each at the end of the one before it)')
    .option('--preview', 'says what would be run and changes nothing')
    .option('--why <text>', 'kept with the runs')
    .option('--as <name>', 'who asks (default: the user of this machine)')
    .addHelpText(
      'after',
      examples(
        'cronce backfill package-report --from 2026-11-01 --to 2026-11-08 --preview',
        'cronce backfill package-report --from 2026-11-01 --to 2026-11-08 --rate 2/min',
      ),
    )
    .action((job: string, options: BackfillOptions) =>
      run(async (context) => (await import('../verbs/backfill.ts')).backfill(context, job, options)),
    )
  program
    .command('pause')
    .description('stops starts of a job, never a running run')
    .argument('<job>', 'the name of a job')
    .option('--note <text>', 'why; shown with the job and with what it drops')
    .option('--until <instant>', 'when it ends by itself: an instant, or a duration such as 2h (default: at `resume`)')
    .option('--missed <what>', 'what becomes of slots meanwhile: skip or catch-up (default: skip)')
    .option('--as <name>', 'who asks (default: the user of this machine)')
    .addHelpText('after', examples('cronce pause package-report --note "registry moves" --until 2h'))
    .action((job: string, options: PauseOptions) =>
      run(async (context) => (await import('../verbs/pause.ts')).pause(context, job, options)),
    )
  program
    .command('resume')
    .description('ends a pause')
    .argument('<job>', 'the name of a job')
    .option('--note <text>', 'why')
    .option('--missed <what>', 'what becomes of slots meanwhile: skip or catch-up (default: what the pause said)')
    .option('--as <name>', 'who asks (default: the user of this machine)')
    .addHelpText('after', examples('cronce resume package-report', 'cronce resume package-report --missed catch-up'))
    .action((job: string, options: ResumeOptions) =>
      run(async (context) => (await import('../verbs/resume.ts')).resume(context, job, options)),
    )
}
