import type { Finding, RedisReport } from '@cronce/operations'
import type { Terminal } from '../terminal.ts'
import { wrap } from './display-width.ts'
import { printable } from './printable.ts'

/** ` redis 7.0.15   noeviction yes   aof   hz 100`. */
export function redisLine({ facts }: RedisReport): string {
  const { version, evictionPolicy, persistence, hz } = facts
  const eviction = evictionPolicy === 'noeviction' ? 'noeviction yes' : `eviction ${evictionPolicy}`
  return printable(` redis ${version}   ${eviction}   persistence ${persistence}   hz ${hz}`)
}

export function findingLines(findings: readonly Finding[], { width, paint }: Terminal): string[] {
  return findings.flatMap(({ level, text }) =>
    wrap(printable(`${level}: ${text}`), width - 3).map((line, index) =>
      paint(`${index === 0 ? ' ' : '   '}${line}`, level === 'error' ? 'bad' : 'warn'),
    ),
  )
}
