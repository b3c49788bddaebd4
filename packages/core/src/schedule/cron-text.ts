import { CronceError } from '../errors/cronce-error.ts'
import { nearestName } from '../nearest-name.ts'
import { CRON_FIELDS, type CronField, NICKNAMES } from './cron-fields.ts'
import { type FieldText, readField } from './field-text.ts'

export type CronText = Readonly<Record<CronField, FieldText>>

export interface CronTextReading {
  /** The expression with its white space reduced. */
  readonly expression: string
  /** Undefined where the expression is refused. */
  readonly text: CronText | undefined
  readonly faults: readonly CronceError[]
}

/** A list of every value of every field is shorter; longer input is refused before it is looked at. */
const LONGEST_EXPRESSION = 1024

const FIELD_NAMES = { 5: 'minute hour day month weekday', 6: 'second minute hour day month weekday' } as const

/** Reads the fields of an expression; every refusal names the token and the field. */
export function readCronText(input: string, fieldCount: 5 | 6): CronTextReading {
  const expression = input
    .slice(0, LONGEST_EXPRESSION)
    .trim()
    .replaceAll(/[ \t]+/g, ' ')
  const words = expression === '' ? [] : expression.split(' ')
  if (input.length > LONGEST_EXPRESSION)
    return refused(expression, fieldCountFault(`${expression.slice(0, 40)}...`, fieldCount, 'too much text'))
  if (expression.startsWith('@')) {
    const written = NICKNAMES[expression.toLowerCase()]
    return written === undefined
      ? refused(expression, nicknameFault(expression))
      : readWords(expression, ['0', ...written.split(' ')])
  }
  const prefix = words.find((word) => /^(CRON_)?TZ=/i.test(word))
  if (prefix !== undefined) {
    const fields = {
      expected: 'fields only',
      field: 'first',
      token: prefix,
      reason: `: give the zone as { zone: '${prefix.slice(prefix.indexOf('=') + 1)}' }`,
    }
    return refused(expression, new CronceError('CRONCE_SCHEDULE_TOKEN', fields))
  }
  if (words.length !== fieldCount) return refused(expression, fieldCountFault(expression, fieldCount, words.length))
  return readWords(expression, fieldCount === 5 ? ['0', ...words] : words)
}

function readWords(expression: string, words: readonly string[]): CronTextReading {
  const faults: CronceError[] = []
  const [second, minute, hour, day, month, weekday] = CRON_FIELDS.map((field, index) => {
    const reading = readField(field, words[index] ?? '*')
    faults.push(...reading.faults)
    return reading.field
  }) as [FieldText, FieldText, FieldText, FieldText, FieldText, FieldText]
  return { expression, text: faults.length > 0 ? undefined : { second, minute, hour, day, month, weekday }, faults }
}

function refused(expression: string, fault: CronceError): CronTextReading {
  return { expression, text: undefined, faults: [fault] }
}

function fieldCountFault(expression: string, expected: 5 | 6, count: number | string): CronceError {
  return new CronceError('CRONCE_SCHEDULE_FIELDS', { expected, names: FIELD_NAMES[expected], count, expression })
}

function nicknameFault(expression: string): CronceError {
  const known = Object.keys(NICKNAMES)
  return new CronceError('CRONCE_SCHEDULE_NICKNAME', {
    known: known.join(' '),
    token: expression,
    reason: nicknameReason(expression, known),
  })
}

function nicknameReason(expression: string, known: readonly string[]): string {
  const word = expression.toLowerCase()
  if (word.startsWith('@every')) return ': write every("15m") for an interval'
  if (word.startsWith('@reboot')) return ': a start of the process is not a slot'
  const nearest = nearestName(word, known)
  return nearest === undefined ? ': write the five fields out' : `, did you mean ${nearest}?`
}
