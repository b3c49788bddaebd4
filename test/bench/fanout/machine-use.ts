import { readFileSync } from 'node:fs'
import type { RedisClient } from '@cronce/store'

/** Clock ticks a second in /proc: USER_HZ, which Linux fixes at 100. */
const TICKS = 100

/** CPU time of processes so far, ms. 0 where there is no /proc. */
export function cpuMs(pids: readonly number[]): number {
  const ticks = pids.map((pid) => {
    const fields = readProc(pid, 'stat')
      .replace(/^.*\) /s, '')
      .split(' ')
    return Number(fields[11] ?? 0) + Number(fields[12] ?? 0)
  })
  return (ticks.reduce((sum, count) => sum + count, 0) * 1000) / TICKS
}

/** Resident memory of a process in bytes: now, and the most so far. 0 where there is no /proc. */
export function rssBytes(pid: number): { readonly now: number; readonly peak: number } {
  const status = readProc(pid, 'status')
  const read = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024
  return { now: read('VmRSS'), peak: read('VmHWM') }
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

export interface RedisUse {
  readonly pid: number
  readonly usedBytes: number
  readonly peakBytes: number
}

/** What Redis says of itself. */
export async function redisUse(redis: RedisClient): Promise<RedisUse> {
  const info = await redis.info()
  const read = (field: string) => Number(new RegExp(`^${field}:(\\d+)`, 'm').exec(info)?.[1] ?? 0)
  return { pid: read('process_id'), usedBytes: read('used_memory'), peakBytes: read('used_memory_peak') }
}
