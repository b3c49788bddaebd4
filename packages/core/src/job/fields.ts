import { z } from 'zod'
import type { Fault } from '../errors/cronce-error.ts'
import { describeValue } from '../errors/describe-value.ts'
import { nearestName } from '../nearest-name.ts'

/** The fields of an object, each by its schema. */
export type Fields = Readonly<Record<string, z.ZodType>>

type Values<F extends Fields> = { readonly [Key in keyof F]: z.output<F[Key]> }

export interface ParsedFields<F extends Fields> {
  /** The values of the fields that are sound. */
  readonly values: Partial<Values<F>>
  readonly faults: readonly Fault[]
}

/** More unknown keys than these are only counted. */
const MOST_UNKNOWN_KEYS = 20

/** Parses every field by itself, so that one fault hides no other, and refuses the keys that are no field. Never throws. */
export function parseFields<F extends Fields>(fields: F, record: Readonly<Record<string, unknown>>): ParsedFields<F> {
  const values: Record<string, unknown> = {}
  const faults: Fault[] = []
  for (const [key, schema] of Object.entries(fields)) {
    const parsed = safely(() => schema.safeParse(record[key]))
    if (parsed === undefined) faults.push({ path: key, message: 'expected a value, got one that cannot be read' })
    else if (parsed.success) values[key] = parsed.data
    else faults.push(...parsed.error.issues.map((issue) => toFault(key, issue)))
  }
  return { values: values as Partial<Values<F>>, faults: [...faults, ...unknownKeyFaults(fields, record)] }
}

function toFault(key: string, issue: z.core.$ZodIssue): Fault {
  return { path: [key, ...issue.path].map(String).join('.'), message: issue.message }
}

function unknownKeyFaults(fields: Fields, record: Readonly<Record<string, unknown>>): readonly Fault[] {
  const known = Object.keys(fields)
  const unknown = (safely(() => Object.keys(record)) ?? []).filter((key) => !Object.hasOwn(fields, key))
  const shown = unknown
    .slice(0, MOST_UNKNOWN_KEYS)
    .map((key) => ({ path: key, message: unknownKeyMessage(key, known) }))
  const more = unknown.length - shown.length
  return more > 0 ? [...shown, { path: '', message: `and ${more} more unknown keys` }] : shown
}

/** What a class instance or a proxy answers, or undefined where it throws. */
function safely<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

function unknownKeyMessage(key: string, known: readonly string[]): string {
  const nearest = nearestName(key, known)
  const hint = nearest === undefined ? `expected one of ${known.join(', ')}` : `did you mean "${nearest}"?`
  return `unknown key ${describeValue(key)}, ${hint}`
}

/** An object of these fields and no others. */
export function objectOf<F extends Fields>(fields: F): z.ZodType<Values<F>> {
  return z.unknown().transform((value, context): Values<F> => {
    const record = asRecord(value)
    if (record === undefined) {
      context.addIssue({
        code: 'custom',
        message: `expected an object with ${Object.keys(fields).join(', ')}, got ${describeValue(value)}`,
      })
      return z.NEVER
    }
    const { values, faults } = parseFields(fields, record)
    for (const { path, message } of faults)
      context.addIssue({ code: 'custom', path: path === '' ? [] : [path], message })
    return values as Values<F>
  })
}

/** A value that `faultOf` finds nothing wrong with, made into another by `convert`. */
export function checked<T>(
  faultOf: (value: unknown) => string | undefined,
  convert: (value: unknown) => T,
): z.ZodType<T> {
  return z.unknown().transform((value, context): T => {
    const fault = faultOf(value)
    if (fault === undefined) return convert(value)
    context.addIssue({ code: 'custom', message: fault })
    return z.NEVER
  })
}

/** Text that `faultOf` finds nothing wrong with. */
export function text(faultOf: (value: unknown) => string | undefined): z.ZodType<string> {
  return checked(faultOf, (value) => value as string)
}

/** One of a few words. */
export function oneOf<const T extends readonly string[]>(words: T, whyNoDefault = ''): z.ZodType<T[number]> {
  const list = words.map((word) => `"${word}"`)
  const expected = list.length === 1 ? list[0] : `${list.slice(0, -1).join(', ')} or ${list.at(-1)}`
  return checked(
    (value) => {
      if (typeof value === 'string' && words.includes(value)) return undefined
      const nearest = typeof value === 'string' ? nearestName(value, words) : undefined
      const hint = value === undefined ? whyNoDefault : nearest === undefined ? '' : `, did you mean "${nearest}"?`
      return `expected ${expected}, got ${describeValue(value)}${hint}`
    },
    (value) => value as T[number],
  )
}

/** A whole number from `least` to `most`. */
export function wholeNumber(least: number, most: number): z.ZodType<number> {
  return numberThat(
    `a whole number from ${least} to ${most}`,
    (value) => Number.isInteger(value) && value >= least && value <= most,
  )
}

/** A number from 0 to 1. */
export function share(): z.ZodType<number> {
  return numberThat('a number from 0 to 1', (value) => value >= 0 && value <= 1)
}

/** The value as an object that can be asked for keys, or undefined. */
export function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}

function numberThat(expected: string, holds: (value: number) => boolean): z.ZodType<number> {
  return checked(
    (value) =>
      typeof value === 'number' && holds(value) ? undefined : `expected ${expected}, got ${describeValue(value)}`,
    (value) => value as number,
  )
}
