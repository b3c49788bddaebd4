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

/** What is wrong, and under it what to do. */
export function findingLines(findings: readonly Finding[], { width, paint }: Terminal): string[] {
  return findings.flatMap(({ level, text, fix }) => {
    const [first = '', ...more] = wrap(printable(`${level}: ${text}`), width - 3)
    const said = [` ${first}`, ...more.map((line) => `   ${line}`)]
    const todo = wrap(printable(fix), width - 5).map((line) => `     ${line}`)
    return [...said.map((line) => paint(line, level === 'error' ? 'bad' : 'warn')), ...todo]
  })
}
