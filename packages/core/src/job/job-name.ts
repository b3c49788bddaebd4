import { describeValue } from '../errors/describe-value.ts'

/** The longest job name and queue name, in characters (code points). */
export const LONGEST_NAME = 128

const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u
const LONE_SURROGATE = /\p{Cs}/u

/**
 * What is wrong with a job name, or undefined. Any text is a name if it is not empty, at most {@link LONGEST_NAME}
 * characters, without white space around it, NFC (so that one name has one spelling in keys), and holds no control
 * characters and no lone surrogates: `eu/daily`, `billing:daily`, `@scope/pkg`, `日次`, `meta` and `2024` are names.
 */
export function jobNameFault(name: unknown): string | undefined {
  return nameFault('name', name)
}

/**
 * What is wrong with the name of a queue, or undefined. As job names, and without white space and `: , { }`: BullMQ
 * refuses `:` and the empty name, `{ }` would move the queue's keys to another Cluster slot, and `,` and white space
 * separate queues on the command line of a worker (`--queues billing:10,default:5`).
 */
export function queueNameFault(name: unknown): string | undefined {
  const fault = nameFault('queue name', name)
  if (fault !== undefined) return fault
  return /[:,{}\s]/u.test(String(name))
    ? `expected a queue name without white space and : , { }, got ${describeValue(name)}`
    : undefined
}

/**
 * What is wrong with the queue of a plain BullMQ worker, or undefined. That queue exists already, so its name may be all
 * that BullMQ takes, `{orders}` (a Cluster hash tag) included; `:` it refuses.
 */
export function foreignQueueFault(name: unknown): string | undefined {
  const fault = nameFault('queue name', name)
  if (fault !== undefined) return fault
  return String(name).includes(':')
    ? `expected a queue name without ":", which BullMQ refuses, got ${describeValue(name)}`
    : undefined
}

function nameFault(noun: string, name: unknown): string | undefined {
  if (typeof name !== 'string' || name.trim() === '') return `expected a non-empty ${noun}, got ${describeValue(name)}`
  // No character is longer than two code units: a hostile name of many megabytes is refused before it is counted.
  const length = name.length > 2 * LONGEST_NAME ? name.length : [...name].length
  if (length > LONGEST_NAME) return `expected a ${noun} of at most ${LONGEST_NAME} characters, got ${length}`
  // Redis keys are UTF-8, where every lone surrogate becomes the same U+FFFD: two names would share a key.
  if (LONE_SURROGATE.test(name))
    return `expected a ${noun} of whole Unicode characters, got a lone surrogate in ${describeValue(name)}`
  if (CONTROL.test(name)) return `expected a ${noun} without control characters, got ${describeValue(name)}`
  if (name !== name.trim()) return `expected a ${noun} without white space around it, got ${describeValue(name)}`
  if (name !== name.normalize('NFC'))
    return `expected a ${noun} in Unicode normal form NFC, got another form of ${describeValue(name.normalize('NFC'))}`
  return undefined
}
