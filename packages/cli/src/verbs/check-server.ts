import { type CronceError, isCronceError } from '@cronce/core'
import { examineRedis, type Finding } from '@cronce/operations'
import type { Context } from '../context.ts'
import { withRedis } from '../service-connection.ts'
import { printable } from '../text/printable.ts'
import { findingLines, redisLine } from '../text/redis-text.ts'
import { redisJson } from './doctor.ts'

/** What there is to say of the server. */
export interface ServerCheck {
  /** Null: it is out of reach, or none is configured. */
  readonly json: Readonly<Record<string, unknown>> | null
  readonly findings: readonly Finding[]
  readonly lines: readonly string[]
  /** It is out of reach. */
  readonly error?: CronceError
}

export async function checkServer(context: Context): Promise<ServerCheck> {
  try {
    const report = await withRedis(context, examineRedis)
    const lines = [redisLine(report), ...findingLines(report.findings, context.terminal)]
    return { json: redisJson(report), findings: report.findings, lines }
  } catch (error) {
    if (!isCronceError(error)) throw error
    const { paint } = context.terminal
    return { json: null, findings: [], lines: [paint(` ${printable(error.message)}`, 'bad')], error }
  }
}
