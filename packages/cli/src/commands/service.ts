import type { Command } from 'commander'
import type { ActionsOptions } from '../verbs/actions.ts'
import type { AuditOptions } from '../verbs/audit.ts'
import type { JobsOptions } from '../verbs/jobs.ts'
import type { WatchOptions } from '../watch.ts'
import { examples } from './examples.ts'
import type { RunVerb } from './run-verb.ts'
import { watched } from './watched.ts'

/** `check`, `jobs`, `overdue`, `audit`, `actions`, `replicas` and `doctor`. */
export function registerService(program: Command, run: RunVerb): void {
  program
    .command('check')
    .description('validates every definition, and the Redis where one is configured')
    .addHelpText('after', examples('cronce check', 'cronce check --jobs ./dist/jobs.js --json'))
    .action(() => run(async (context) => (await import('../verbs/check.ts')).check(context)))
  watched(
    program
      .command('jobs')
      .description('every job with its next slot and what became of its last, or all of one job')
      .argument('[job]', 'one job: its definition, its generations, and what was done to it')
      .option('--limit <n>', 'how many (default: 100)')
      .option('--cursor <cursor>', '`next` of an earlier answer: the ones after'),
  )
    .addHelpText('after', examples('cronce jobs', 'cronce jobs package-report'))
    .action((job: string | undefined, options: JobsOptions & WatchOptions) =>
      run(
        async (context) =>
          job === undefined
            ? (await import('../verbs/jobs.ts')).jobs(context, options)
            : (await import('../verbs/job.ts')).job(context, job),
        options,
      ),
    )
  watched(
    program
      .command('overdue')
      .description('what should have started or ended by now, and why it has not; exit 1 where there is any'),
  )
    .addHelpText('after', examples('cronce overdue', 'cronce overdue --json || page-somebody'))
    .action((options: WatchOptions) =>
      run(async (context) => (await import('../verbs/overdue.ts')).overdue(context), options),
    )
  program
    .command('audit')
    .description('whether every slot that had to exist is recorded, once; exit 1 unless it adds up')
    .option('--from <day>', 'a UTC day, or an instant: the first slots to look at (default: a week before --to)')
    .option('--to <day>', 'likewise; slots before it (default: now)')
    .option('--job <name>', 'of one job (default: of all)')
    .addHelpText('after', examples('cronce audit --from 2026-11-01 --to 2026-11-29'))
    .action((options: AuditOptions) =>
      run(async (context) => (await import('../verbs/audit.ts')).audit(context, options)),
    )
  program
    .command('actions')
    .description('what people changed, newest first: who, when, why, and what came of it')
    .option('--job <name>', 'of one job, or of its slots')
    .option('--slot <slot>', 'that name this slot, by its whole key')
    .option('--who <name>', 'by one name')
    .option('--last <n>', 'how many (default: 20)')
    .option('--cursor <cursor>', '`next` of an earlier answer: older ones')
    .addHelpText(
      'after',
      examples('cronce actions --job package-report', 'cronce actions --slot package-report@20261127T010000Z --json'),
    )
    .action((options: ActionsOptions) =>
      run(async (context) => (await import('../verbs/actions.ts')).actions(context, options)),
    )
  watched(program.command('replicas').description('the processes of the service: triggers and workers'))
    .addHelpText('after', examples('cronce replicas', 'cronce replicas --watch --every 10s'))
    .action((options: WatchOptions) =>
      run(async (context) => (await import('../verbs/replicas.ts')).replicas(context), options),
    )
  program
    .command('doctor')
    .description('Redis, clocks, processes and queues, and what is wrong with them; exit 1 where a run is at risk')
    .addHelpText('after', examples('cronce doctor'))
    .action(() => run(async (context) => (await import('../verbs/doctor.ts')).doctor(context)))
}
