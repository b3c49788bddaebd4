import { z } from 'zod'

const MOST_AT_ONCE = 1_000

/** `billing:10,default:5`: names of queues, each with how many tasks of it this process works on at once. */
export function queuesText(): z.ZodType<Readonly<Record<string, number>>> {
  return z.unknown().transform((value, context): Readonly<Record<string, number>> => {
    const queues: Record<string, number> = {}
    for (const part of (typeof value === 'string' ? value : '').split(',')) {
      const [, name, digits] = /^\s*([^\s:,{}]+):(\d{1,4})\s*$/u.exec(part) ?? []
      const concurrency = Number(digits)
      if (name === undefined || concurrency < 1 || concurrency > MOST_AT_ONCE) {
        fault(`expected name:concurrency with 1 to ${MOST_AT_ONCE} tasks at once, got ${JSON.stringify(part)}`)
      } else if (Object.hasOwn(queues, name)) {
        fault(`expected each queue once, got ${JSON.stringify(name)} twice`)
      } else {
        queues[name] = concurrency
      }
    }
    return queues

    function fault(message: string): void {
      context.addIssue({ code: 'custom', message })
    }
  })
}
