import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { isCronceError } from '../errors/cronce-error.ts'
import { every } from '../schedule/schedule.ts'
import { defineJob } from './define-job.ts'
import { jobCatalog } from './job-catalog.ts'
import type { JobDefinition } from './job-definition.ts'

const schedule = every('1m')
const refresh = defineJob({ name: 'refresh', schedule, onCrash: 'skip' })
const entity = { schema: z.object({ id: z.string() }), key: (row: { id: string }) => row.id }
const report = defineJob({ name: 'report', schedule, onCrash: 'complete', entity })
const named = (name: string, was?: string) =>
  defineJob({ name, schedule, onCrash: 'skip', ...(was === undefined ? {} : { was }) })

function refused(definitions: readonly unknown[]) {
  try {
    jobCatalog(definitions as readonly JobDefinition[])
  } catch (error) {
    if (isCronceError(error))
      return { code: error.code, message: error.message, paths: error.faults.map(({ path }) => path) }
    throw error
  }
  return undefined
}

describe('jobCatalog', () => {
  const catalog = jobCatalog([refresh, report])

  it('finds jobs by name, typed where the compiler knows the name', () => {
    expect(catalog.get('report')).toBe(report)
    expectTypeOf(catalog.get('report')).toEqualTypeOf<typeof report>()
    expectTypeOf(catalog.names).toEqualTypeOf<readonly ('refresh' | 'report')[]>()
    // @ts-expect-error no job of this name
    expect(catalog.get('settlement')).toBeUndefined()
    expect(catalog.find('refresh')).toBe(refresh)
    expect(catalog.find('__proto__')).toBeUndefined()
    expect([catalog.has('report'), catalog.has('toString')]).toEqual([true, false])
  })

  it('keeps the order given, and is frozen', () => {
    expect([...catalog]).toEqual([refresh, report])
    expect(catalog).toMatchObject({ size: 2, names: ['refresh', 'report'] })
    expect(Object.isFrozen(catalog) && Object.isFrozen(catalog.names)).toBe(true)
    expect([...jobCatalog([])]).toEqual([])
  })

  it('refuses a name that comes twice, with every double at once', () => {
    expect(refused([refresh, report, named('refresh'), named('report'), named('report')])).toEqual({
      code: 'CRONCE_JOB_DUPLICATE',
      message: 'expected job names to be unique, got "refresh" 2 times',
      paths: ['refresh', 'report'],
    })
  })

  it('refuses a former name that is still defined, or that two jobs had', () => {
    expect(refused([refresh, named('cache-refresh', 'refresh')])).toEqual({
      code: 'CRONCE_JOB_WAS_PRESENT',
      message:
        'expected `was` of job "cache-refresh" to name a job that is gone, got "refresh", which is still defined',
      paths: ['cache-refresh.was'],
    })
    expect(refused([named('a', 'old'), named('b', 'old')])).toMatchObject({ paths: ['a.was', 'b.was'] })
    expect(refused([named('a', 'old'), named('b', 'older')])).toBeUndefined()
  })

  it('keeps apart names whose encoded forms look alike', () => {
    expect(
      refused(
        ['a:b', 'a%3Ab', 'a%253Ab', 'A:b', 'a b', 'a%20b', '@a', '%40a', 'meta', '2024'].map((name) => named(name)),
      ),
    ).toBeUndefined()
  })

  it('refuses what is no definition, by its place in the list', () => {
    const { entity: _, ...settings } = refresh
    expect(refused([refresh, undefined, null, 'report', settings, { ...report, timeoutMs: -1 }])).toMatchObject({
      code: 'CRONCE_JOB_INVALID',
      paths: ['[1]', '[2]', '[3]', '[4].entity', '[5].timeoutMs'],
    })
  })
})
