import { z } from 'zod'

/** The secrets of the signed trigger, by job: each may sign, so that one can be changed without a gap. */
export type TriggerSecrets = ReadonlyMap<string, readonly string[]>

/** Enough to change one: the old and the new, and one that somebody forgot. */
const MOST_SECRETS = 4

/**
 * `invoice-run:<secret>,report:<secret>`, the same job again for another secret of it. `:`, `,`, `%` and white space in a name are
 * percent-encoded, as in a path. A secret is in no message.
 */
export function triggerSecretsText(): z.ZodType<TriggerSecrets> {
  return z.string().transform((text, context) => {
    const secrets = new Map<string, string[]>()
    const entries = text.split(',').map((entry) => entry.trim())
    for (const [index, entry] of entries.filter((each) => each !== '').entries()) {
      const read = readEntry(entry)
      const place = `at place ${index + 1}`
      if (read === undefined) {
        context.addIssue(
          `expected job:secret ${place}, the secret of 16 to 256 visible ASCII characters other than ":" and ","`,
        )
        continue
      }
      const known = secrets.get(read.job) ?? []
      if (known.includes(read.secret)) context.addIssue(`expected another secret ${place}, got one of the job again`)
      if (known.length === MOST_SECRETS)
        context.addIssue(`expected at most ${MOST_SECRETS} secrets of a job, got more ${place}`)
      secrets.set(read.job, [...known, read.secret])
    }
    return secrets
  })
}

function readEntry(entry: string): { job: string; secret: string } | undefined {
  const [name = '', secret = '', ...rest] = entry.split(':')
  if (name === '' || /\s/.test(name) || rest.length > 0 || !/^[\x21-\x7e]{16,256}$/.test(secret)) return undefined
  try {
    return { job: decodeURIComponent(name), secret }
  } catch {
    return undefined
  }
}
