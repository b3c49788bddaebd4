import { type Command, Option } from 'commander'
import type { SlotOptions } from '../verbs/slots.ts'
import { examples } from './examples.ts'
import type { RunVerb } from './run-verb.ts'

/** `next` and `prev`. */
export function registerSchedules(program: Command, run: RunVerb): void {
  const next = slotCommand(program, 'next', run).description('the next slots of a job or of an expression')
  next.addHelpText(
    'after',
    examples(
      "cronce next --cron '30 2 * * *' --zone America/New_York --from 2026-03-07T12:00:00Z --count 2",
      'cronce next --every 15m --offset 5m',
      'cronce next package-report --json',
    ),
  )
  const prev = slotCommand(program, 'prev', run).description('the previous slots, newest first')
  prev.addHelpText(
    'after',
    examples("cronce prev --cron '0 9 * * 1-5' --zone Europe/Berlin --count 10", 'cronce prev package-report'),
  )
}

function slotCommand(program: Command, direction: 'next' | 'prev', run: RunVerb): Command {
  const order = direction === 'next' ? 'after' : 'before'
  return program
    .command(direction)
    .argument('[job]', 'a job of the definitions')
    .option('--cron <expression>', 'five fields: minute hour day month weekday, or a nickname such as @daily')
    .option('--every <period>', 'an interval such as 15m, anchored to 1970 in UTC')
    .option('--offset <duration>', 'with --every: how much later')
    .option('--zone <zone>', 'with --cron: a zone of the tz database (default: UTC)')
    .addOption(new Option('--missing-time <policy>', 'with --cron: at-gap-end, skip or shift (default: at-gap-end)'))
    .addOption(new Option('--repeated-time <policy>', 'with --cron: first, second or both (default: first)'))
    .option('--seconds', 'with --cron: six fields, seconds first')
    .option('--from <instant>', `ISO 8601 with an offset; slots strictly ${order} it (default: now)`)
    .option('--count <n>', 'how many (default: 5)')
    .action((job: string | undefined, options: SlotOptions) =>
      run(async (context) => (await import('../verbs/slots.ts')).slots(context, { job, options, direction })),
    )
}
