import { type Command, Option } from 'commander'
import type { DiscardOptions } from '../verbs/dead-discard.ts'
import type { ExportOptions } from '../verbs/dead-export.ts'
import type { DeadListOptions } from '../verbs/dead-list.ts'
import type { RetryOptions } from '../verbs/dead-retry.ts'
import type { DeadShowOptions } from '../verbs/dead-show.ts'
import type { WatchOptions } from '../watch.ts'
import { examples } from './examples.ts'
import type { RunVerb } from './run-verb.ts'
import { watched } from './watched.ts'

/** `dead list|show|retry|discard|export`. */
export function registerDead(program: Command, run: RunVerb): void {
  const dead = program.command('dead').description('entities and runs that used up their attempts')
  watched(filtered(dead.command('list').description('open dead letters, newest first')))
    .option('--limit <n>', 'how many (default: 20)')
    .option('--cursor <cursor>', '`next` of an earlier answer: older ones')
    .addHelpText(
      'after',
      examples('cronce dead list --job package-report', "cronce dead list --error 'HTTP 402' --json"),
    )
    .action((options: DeadListOptions & WatchOptions) =>
      run(async (context) => (await import('../verbs/dead-list.ts')).deadList(context, options), options),
    )
  dead
    .command('show')
    .description('one dead letter: payload and every error, newest first')
    .argument('<id>', 'its id, whole, from `cronce dead list`')
    .option('--reveal', 'also what its definition hides of it; the journal says so')
    .option('--as <name>', 'who asks (default: the user of this machine)')
    .addHelpText('after', examples('cronce dead show package-report@20261127T010000Z/left-pad'))
    .action((id: string, options: DeadShowOptions) =>
      run(async (context) => (await import('../verbs/dead-show.ts')).deadShow(context, id, options)),
    )
  selected(dead.command('retry').description('runs dead letters again, with fresh attempts'))
    .option('--abandoned', 'with a filter: also what was abandoned and may have had its effect')
    .addHelpText(
      'after',
      examples(
        "cronce dead retry --job package-report --error 'HTTP 402' --preview",
        'cronce dead retry --job package-report --from 2026-11-27 --rate 100/min',
        'cronce dead retry package-report@20261127T010000Z/left-pad',
      ),
    )
    .action((ids: string[], options: RetryOptions) =>
      run(async (context) => (await import('../verbs/dead-retry.ts')).deadRetry(context, ids, options)),
    )
  selected(dead.command('discard').description('gives dead letters up; their runs still count them as dead'))
    .option('--reason <text>', 'kept with the letter; must be given')
    .addHelpText(
      'after',
      examples(
        'cronce dead discard package-report@20261127T010000Z/left-pad --reason "unpublished"',
        'cronce dead discard --job package-report --error 404 --reason "gone" --preview',
      ),
    )
    .action((ids: string[], options: DiscardOptions) =>
      run(async (context) => (await import('../verbs/dead-discard.ts')).deadDiscard(context, ids, options)),
    )
  filtered(dead.command('export').description('open dead letters with payloads and errors, one JSON object per line'))
    .option('--reveal', 'also what definitions hide of them; the journal says so')
    .option('--as <name>', 'who asks (default: the user of this machine)')
    .addHelpText('after', examples('cronce dead export --job package-report > dead.ndjson'))
    .action((options: ExportOptions) =>
      run(async (context) => (await import('../verbs/dead-export.ts')).deadExport(context, options)),
    )
}

function filtered(command: Command): Command {
  return command
    .option('--job <name>', 'of one job')
    .option('--slot <slot>', 'of one run')
    .option('--error <text>', 'whose newest error has this in its `name: message`')
    .option('--from <day>', 'that died last on this UTC day, at this instant, or later')
    .option('--to <day>', 'likewise; before it')
}

function selected(command: Command): Command {
  const ids = new Option('--id <id>', 'as the argument; may be given again').argParser(
    (id: string, before: string[] = []) => [...before, id],
  )
  return filtered(command.argument('[id...]', 'ids, whole, from `cronce dead list`'))
    .addOption(ids)
    .option('--preview', 'says what would be done and changes nothing')
    .option('--rate <rate>', 'at most so many: 100/min, 20/s (default: at once)')
    .option('--as <name>', 'who asks (default: the user of this machine)')
}
