import { CronceError } from '@cronce/core'
import { addressOf, type RedisClient } from './connection.ts'

/** What Redis says of itself. */
export interface RedisFacts {
  readonly version: string
  readonly evictionPolicy: string
  /** Bytes; 0 is no limit. */
  readonly maxMemory: number
  readonly persistence: 'aof' | 'rdb' | 'none'
  readonly hz: number
}

/** A finding about a Redis: `error` can lose or double a run. */
export interface SafetyFinding {
  readonly level: 'error' | 'warning'
  /** The name by which the configuration accepts it. */
  readonly name: 'eviction' | 'version' | 'persistence' | 'hz'
  readonly text: string
  /** What to do about it. */
  readonly fix: string
}

/** Reads the facts from INFO, which hosts allow where they forbid CONFIG (S1). */
export async function readRedisFacts(redis: RedisClient): Promise<RedisFacts> {
  const info = parseInfo(await redis.info())
  return {
    version: info['redis_version'] ?? info['valkey_version'] ?? 'unknown',
    evictionPolicy: info['maxmemory_policy'] ?? 'unknown',
    maxMemory: Number(info['maxmemory'] ?? 0),
    persistence:
      info['aof_enabled'] === '1'
        ? 'aof'
        : Number(info['rdb_last_save_time'] ?? 0) > 0 && hasSaved(info)
          ? 'rdb'
          : 'none',
    hz: Number(info['configured_hz'] ?? info['hz'] ?? 0),
  }
}

/** S1: what is unsafe or unwise about a Redis. */
export function judgeRedis(facts: RedisFacts): SafetyFinding[] {
  const findings: SafetyFinding[] = []
  if (facts.evictionPolicy !== 'noeviction' && facts.evictionPolicy !== 'unknown') {
    findings.push({
      level: 'error',
      name: 'eviction',
      text: `maxmemory-policy is ${facts.evictionPolicy}: claims and locks may vanish and a slot run twice`,
      fix: 'set maxmemory-policy noeviction, and enough memory',
    })
  }
  const [major = 0, minor = 0] = facts.version.split('.').map(Number)
  if (major < 6 || (major === 6 && minor < 2)) {
    findings.push({
      level: 'error',
      name: 'version',
      text: `Redis ${facts.version} is too old: expected 6.2 or newer`,
      fix: 'upgrade Redis; 7.2 or newer is best',
    })
  }
  if (facts.persistence === 'none') {
    findings.push({
      level: 'warning',
      name: 'persistence',
      text: 'no persistence: a restart of Redis forgets the ledger',
      fix: 'set appendonly yes',
    })
  }
  if (facts.hz > 0 && facts.hz < 100) {
    findings.push({
      level: 'warning',
      name: 'hz',
      text: `hz is ${facts.hz}: blocked clients wake up to ${Math.round(1000 / facts.hz)} ms late`,
      fix: 'set hz 100',
    })
  }
  return findings
}

/**
 * S1: refuses an unsafe Redis, unless each finding is accepted by name. Answers the findings that remain as warnings.
 *
 * @throws CronceError CRONCE_REDIS_UNSAFE
 */
export async function checkRedis(
  redis: RedisClient,
  accepted: readonly SafetyFinding['name'][] = [],
): Promise<SafetyFinding[]> {
  const findings = judgeRedis(await readRedisFacts(redis))
  const refused = findings.filter((finding) => finding.level === 'error' && !accepted.includes(finding.name))
  if (refused.length > 0) {
    throw new CronceError('CRONCE_REDIS_UNSAFE', {
      address: addressOf(redis),
      reason: refused.map(({ text, fix }) => `${text}; ${fix}`).join('; '),
    })
  }
  return findings
}

function hasSaved(info: Readonly<Record<string, string>>): boolean {
  return Number(info['rdb_saves'] ?? 0) > 0 || info['rdb_bgsave_in_progress'] === '1'
}

function parseInfo(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split(/\r?\n/).flatMap((line) => {
      const colon = line.indexOf(':')
      return colon < 1 ? [] : [[line.slice(0, colon), line.slice(colon + 1)]]
    }),
  )
}
