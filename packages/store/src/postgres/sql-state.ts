/** SQLSTATEs after which the same transaction, begun anew, may succeed: a lock not had in time, a deadlock, a lost race. */
const BUSY: readonly string[] = ['55P03', '40P01', '40001']

/** Whether a statement failed only because others were at it. */
export function isBusy(error: unknown): boolean {
  return BUSY.includes(sqlStateOf(error) ?? '')
}

/** The SQLSTATE of an error of `pg`, also where Drizzle (`cause`) or Prisma (`meta.code`) wrapped it. */
export function sqlStateOf(error: unknown): string | undefined {
  for (let depth = 0, at = error; depth < 4 && typeof at === 'object' && at !== null; depth++) {
    const { code, meta, cause } = at as { code?: unknown; meta?: { code?: unknown }; cause?: unknown }
    for (const text of [meta?.code, code]) {
      if (typeof text === 'string' && /^[0-9A-Z]{5}$/.test(text)) return text
    }
    at = cause
  }
  return undefined
}
