import { parseDeadLetterId } from '@cronce/core'
import { revealDeadLetters, type ShownLetter, showDeadLetter } from '@cronce/operations'
import type { KeptError } from '@cronce/store'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { wholeDeadLetterJson } from '../json/dead-letter-json.ts'
import { readOperator } from '../operator-option.ts'
import { withService } from '../service-connection.ts'
import { isoText } from '../text/instant-text.ts'
import { printable, printableJson } from '../text/printable.ts'

/** The options of `dead show`, as they were typed. */
export interface DeadShowOptions {
  readonly reveal?: boolean
  readonly as?: string
}

/** `dead show`: one dead letter with its payload and all its errors, newest first. */
export async function deadShow(context: Context, id: string, options: DeadShowOptions): Promise<Answer> {
  const letter = await withService(context, async (access) => {
    const shown = await showDeadLetter(access.store, id)
    if (options.reveal !== true) return shown
    const { slot } = parseDeadLetterId(id)
    const request = { operator: readOperator(options), selection: id, job: shown.job, slots: [slot] }
    return await revealDeadLetters(access, request, (show) => show(id))
  })
  return { json: wholeDeadLetterJson(letter), text: () => lines(letter) }
}

function lines(letter: ShownLetter): string[] {
  const { id, entity, slot, reason, state, attempts, lives, at, worker, release, payload, errors } = letter
  const facts = [
    ['entity', entity ?? 'none: a dead letter of the run'],
    ['run', slot],
    ['state', letter.discardReason === undefined ? state : `${state}: ${letter.discardReason}`],
    ['reason', reason],
    ['died', `${isoText(at)}, ${attempts} attempts, ${lives} ${lives === 1 ? 'life' : 'lives'}`],
    ['by', `${worker} ${release}`.trim()],
    ['payload', payload === undefined ? 'none' : printableJson(payload)],
    ...(letter.redacted ? [['', 'its definition hides a part; --reveal shows it, and the journal says so']] : []),
  ]
  return [
    ` ${printable(id)}`,
    ...facts.map(([name = '', value = '']) => `   ${name.padEnd(8)} ${printable(value)}`),
    ...errors.flatMap(errorLines),
  ]
}

function errorLines({ at, attempt, name, message, stack, worker }: KeptError): string[] {
  const head = `   ${isoText(at)}  attempt ${attempt}  ${worker}`
  const trace = (stack ?? '').split('\n').filter((line) => /^\s*at /.test(line))
  return [
    printable(head),
    `     ${printable(`${name}: ${message}`)}`,
    ...trace.map((line) => `       ${printable(line.trim())}`),
  ]
}
