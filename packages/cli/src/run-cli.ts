import { type Clock, CronceError, isCronceError } from '@cronce/core'
import { CommanderError } from 'commander'
import type { Answer } from './answer.ts'
import type { CliEnvironment } from './config.ts'
import type { Context, GlobalOptions } from './context.ts'
import { EXIT, type Exit, exitOf } from './exit.ts'
import { createProgram } from './program.ts'
import type { Terminal } from './terminal.ts'
import { printable, printableJson } from './text/printable.ts'
import { VERSION } from './version.ts'
import { readWatch, watchVerb } from './watch.ts'

/** One call of the command line. */
export interface Invocation {
  /** What was typed after `cronce`. */
  readonly args: readonly string[]
  readonly clock: Clock
  readonly folder: string
  readonly terminal: Terminal
  readonly environment: () => CliEnvironment
}

/**
 * Runs one command and answers the exit code of the process. Never throws: every failure is an `{"error":{"code","message"}}` on
 * standard output with `--json`, else a line on standard error.
 */
export async function runCli({ args, clock, folder, terminal, environment }: Invocation): Promise<number> {
  const form = args.includes('--json') ? 'json' : 'text'
  const help: string[] = []
  let exit: Exit = 'well'
  const program = createProgram(
    async (verb, watch = {}) => {
      const context: Context = { global: program.opts<GlobalOptions>(), clock, folder, terminal, environment }
      const everyMs = readWatch(watch)
      if (everyMs !== undefined) return await watchVerb(() => verb(context), { context, form, everyMs })
      const answer = await verb(context)
      await print(answer, form, terminal)
      exit = answer.exit ?? 'well'
    },
    { help: (text) => help.push(text) },
  )
  try {
    await program.parseAsync(args, { from: 'user' })
    return EXIT[exit]
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) {
      const shown = error.code === 'commander.version' ? { version: VERSION } : { help: help.join('') }
      await terminal.out(form === 'json' ? `${printableJson(shown)}\n` : help.join(''))
      return EXIT.well
    }
    const known = asCronceError(error)
    await report(known, form, terminal)
    if (form === 'text') terminal.err(help.join(''))
    return EXIT[exitOf(known.code)]
  }
}

async function print(answer: Answer, form: 'json' | 'text', terminal: Terminal): Promise<void> {
  if (answer.form === 'streamed') return
  await terminal.out(form === 'json' ? `${printableJson(answer.json)}\n` : `${answer.text().join('\n')}\n`)
}

async function report(error: CronceError, form: 'json' | 'text', terminal: Terminal): Promise<void> {
  const { code, message, fix, cause } = error
  if (form === 'json') await terminal.out(`${printableJson({ error: { code, message } })}\n`)
  else terminal.err(`${terminal.paint('refused', 'bad')}: ${printable(message)}\n  ${printable(fix)}\n`)
  if (code === 'CRONCE_UNEXPECTED' && cause instanceof Error) terminal.err(`${cause.stack ?? ''}\n`)
}

/** Whatever was thrown, as an error of the catalogue. */
function asCronceError(error: unknown): CronceError {
  if (isCronceError(error)) return error
  if (error instanceof CommanderError) return new CronceError('CRONCE_USAGE', { reason: usageReason(error) })
  const reason = error instanceof Error ? error.message : String(error)
  return new CronceError('CRONCE_UNEXPECTED', { reason }, { cause: error })
}

function usageReason({ code, message }: CommanderError): string {
  if (code === 'commander.help') return 'expected a verb, got none'
  return message.replace(/^error: /, '').replaceAll(/\s+/g, ' ')
}
