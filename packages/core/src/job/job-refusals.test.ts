import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { CronceError, type Fault, isCronceError } from '../errors/cronce-error.ts'
import { cron, every } from '../schedule/schedule.ts'
import { defineJob } from './define-job.ts'

const sound = { name: 'nightly', schedule: cron('0 2 * * *', { zone: 'Europe/Berlin' }), onCrash: 'complete' }

function faultsOf(input: unknown): readonly Fault[] {
  try {
    defineJob(input as never)
    return []
  } catch (error) {
    if (isCronceError(error, 'CRONCE_JOB_INVALID') && error.faults.length > 0) return error.faults
    throw error
  }
}

const duration = 'expected a duration such as "15m" or a whole number of milliseconds'

/** What an author wrote, where the fault is, and what it begins with. */
const MISTAKES: readonly (readonly [mistake: Readonly<Record<string, unknown>>, path: string, message: string])[] = [
  [{ name: '' }, 'name', 'expected a non-empty name, got ""'],
  [{ name: 2024 }, 'name', 'expected a non-empty name, got 2024'],
  [{ schedule: undefined }, 'schedule', 'expected cron(...) or every(...), got nothing'],
  [{ schedule: '0 2 * * *' }, 'schedule', 'expected cron(...) or every(...), got "0 2 * * *": write cron("0 2 * * *")'],
  [{ schedule: '15m' }, 'schedule', 'expected cron(...) or every(...), got "15m": write every("15m")'],
  [{ schedule: cron }, 'schedule', 'expected cron(...) or every(...), got a function'],
  [{ schedule: { ...sound.schedule, zone: 'Berlin' } }, 'schedule.zone', 'expected'],
  [{ onCrash: undefined }, 'onCrash', 'expected "skip" or "complete", got nothing: there is no default, because'],
  [{ onCrash: 'completes' }, 'onCrash', 'expected "skip" or "complete", got "completes", did you mean "complete"?'],
  [{ onCrash: true }, 'onCrash', 'expected "skip" or "complete", got true'],
  [{ catchUp: 'late' }, 'catchUp', 'expected an object with mode, within, atMost, got "late"'],
  [{ catchUp: { mode: 'all' } }, 'catchUp.mode', 'expected "late", "latest" or "skip", got "all"'],
  [{ catchUp: { within: '6 hours' } }, 'catchUp.within', `${duration}, got "6 hours"`],
  [{ catchUp: { within: '5s' } }, 'catchUp.within', 'expected longer than the claim lease (10s), got 5s'],
  [{ catchUp: { within: '10s' } }, 'catchUp.within', 'expected longer than the claim lease (10s), got 10s'],
  [{ catchUp: { atMost: 0 } }, 'catchUp.atMost', 'expected a whole number from 1 to 10000, got 0'],
  [{ catchUp: { atmost: 5 } }, 'catchUp.atmost', 'unknown key "atmost", did you mean "atMost"?'],
  [{ overlap: 'cancel' }, 'overlap', 'expected "allow", "skip", "queue" or "cancel-previous", got "cancel"'],
  [{ tolerance: '10m' }, 'tolerance', 'expected an object with start, finish, got "10m"'],
  [{ tolerance: { start: Number.NaN } }, 'tolerance.start', `${duration}, got NaN`],
  [{ tolerance: { start: '25h' } }, 'tolerance.start', 'expected at most the period of the schedule, 1d here, got 25h'],
  [
    { tolerance: { start: '1h', finish: '1h' } },
    'tolerance.finish',
    'expected longer than tolerance.start (1h), got 1h',
  ],
  [{ timeout: '2h', tolerance: { finish: '90m' } }, 'timeout', 'expected at most tolerance.finish (90m), got 2h'],
  [{ timeout: 0 }, 'timeout', 'expected a duration above zero, got 0'],
  [{ timeout: '2d' }, 'timeout', 'expected a duration of at most 1d, got "2d"'],
  [{ timeout: '120' }, 'timeout', `${duration}, got "120"`],
  [{ timeout: Number.POSITIVE_INFINITY }, 'timeout', `${duration}, got Infinity`],
  [{ expire: -1 }, 'expire', `${duration}, got -1`],
  [{ expire: '5m', tolerance: { start: '10m' } }, 'expire', 'expected longer than tolerance.start (10m), got 5m'],
  [{ expire: '1000w' }, 'expire', 'expected a duration of at most 366d, got "1000w"'],
  [{ chunk: { size: '100' } }, 'chunk.size', 'expected a whole number from 1 to 1000, got "100"'],
  [{ chunk: { size: 100_000 } }, 'chunk.size', 'expected a whole number from 1 to 1000, got 100000'],
  [{ redact: [] }, 'redact', 'expected "all", or 1 to 100 fields such as "iban" or "customer.email", got'],
  [
    { redact: ['a', 'b.'] },
    'redact',
    'expected "all", or 1 to 100 fields such as "iban" or "customer.email", got "b."',
  ],
  [
    { redact: ['a', 'a'] },
    'redact',
    'expected "all", or 1 to 100 fields such as "iban" or "customer.email", each once',
  ],
  [{ redact: 'iban' }, 'redact', 'expected "all", or 1 to 100'],
  [{ limit: {} }, 'limit', 'expected concurrency, rate or both, got neither'],
  [{ limit: 5 }, 'limit', 'expected an object with concurrency, rate, got 5'],
  [{ limit: { concurrency: 0 } }, 'limit.concurrency', 'expected a whole number from 1 to 1000, got 0'],
  [{ limit: { rate: { max: 100 } } }, 'limit.rate.per', `${duration}, got undefined`],
  [
    { limit: { rate: { max: 0.5, per: '1s' } } },
    'limit.rate.max',
    'expected a whole number from 1 to 1000000, got 0.5',
  ],
  [{ enqueue: { queue: 'a', name: 'b' }, limit: { concurrency: 1 } }, 'limit', 'expected none with enqueue'],
  [{ chunk: { concurrency: 0 } }, 'chunk.concurrency', 'expected a whole number from 1 to 1000, got 0'],
  [{ retry: { attempts: 2.5 } }, 'retry.attempts', 'expected a whole number from 1 to 10000, got 2.5'],
  [{ retry: 5 }, 'retry', 'expected an object with attempts, backoff, got 5'],
  [{ retry: { delay: '5s' } }, 'retry.delay', 'unknown key "delay", expected one of attempts, backoff'],
  [{ retry: { backoff: { jitter: 1.5 } } }, 'retry.backoff.jitter', 'expected a number from 0 to 1, got 1.5'],
  [{ retry: { backoff: { type: 'linear' } } }, 'retry.backoff.type', 'expected "exponential" or "fixed", got "linear"'],
  [
    { retry: { backoff: { delay: '1m', cap: '30s' } } },
    'retry.backoff.cap',
    'expected at least retry.backoff.delay (1m), got 30s',
  ],
  [{ retry: { backoff: { delay: '' } } }, 'retry.backoff.delay', `${duration}, got ""`],
  [{ queue: 'a:b' }, 'queue', 'expected a queue name without white space and : , { }, got "a:b"'],
  [{ queue: '' }, 'queue', 'expected a non-empty queue name, got ""'],
  [{ version: 0 }, 'version', 'expected a whole number from 1'],
  [{ was: 'nightly' }, 'was', 'expected the name it had before, got its own, "nightly"'],
  [{ entity: { key: String } }, 'entity.schema', 'expected a zod schema (anything with a parse method), got nothing'],
  [
    { entity: { schema: { id: z.string() }, key: String } },
    'entity.schema',
    'expected a zod schema (anything with a parse method), got an object with "id": wrap it in z.object(...)',
  ],
  [
    { entity: { schema: z.string(), key: 'id' } },
    'entity.key',
    'expected a function from an entity to its key, such as (account) => account.id, got "id"',
  ],
  [{ entity: z.string() }, 'entity.schema', 'expected a zod schema'],
  [{ enqueue: { queue: 'mail', name: 'digest' }, overlap: 'skip' }, 'overlap', 'expected "allow" with enqueue'],
  [
    { enqueue: { queue: 'mail', name: 'digest' }, queue: 'mail' },
    'queue',
    'expected none with enqueue, which names its own queue',
  ],
  [
    { enqueue: { queue: 'mail', name: 'digest' }, entity: { schema: z.string(), key: String } },
    'entity',
    'expected none with enqueue',
  ],
  [{ enqueue: { queue: 'a:b', name: 'digest' } }, 'enqueue.queue', 'expected a queue name without ":"'],
  [{ enqueue: { queue: 'mail' } }, 'enqueue.name', 'expected a non-empty job name, got nothing'],
  [{ description: ' ' }, 'description', 'expected a non-empty description, got " "'],
  [{ handler: () => 1 }, 'handler', 'unknown key "handler", expected one of name, schedule'],
  [{ tolerence: { start: '1m' } }, 'tolerence', 'unknown key "tolerence", did you mean "tolerance"?'],
  [JSON.parse('{"__proto__": 1}'), '__proto__', 'unknown key "__proto__"'],
]

describe('a definition is refused', () => {
  it.each(MISTAKES)('for %o at %s', (mistake, path, message) => {
    const input = { ...sound }
    for (const [key, value] of Object.entries(mistake)) Object.defineProperty(input, key, { value, enumerable: true })
    const fault = faultsOf(input).find((candidate) => candidate.path === path && candidate.message.startsWith(message))
    expect(fault, JSON.stringify(faultsOf(input))).toBeDefined()
  })

  it('with one fault for one mistake', () => {
    for (const [mistake] of MISTAKES.filter(([, path]) => !['entity.schema', '__proto__'].includes(path))) {
      expect(faultsOf({ ...sound, ...mistake }), JSON.stringify(mistake)).toHaveLength(1)
    }
  })

  it('with every fault at once, those between sound fields too', () => {
    const faults = faultsOf({
      nmae: 'x',
      name: ' a',
      schedule: cron('0 2 * * *'),
      catchUp: { atmost: 3, within: '5s', mode: 'lates' },
      tolerance: { start: '2d', finish: '1d' },
      retry: { attempts: 0, backoff: { delay: '5s', cap: '1s', jitter: 2 } },
      queue: '{x}',
    })
    expect(faults.map(({ path }) => path).toSorted()).toEqual([
      'catchUp.atmost',
      'catchUp.mode',
      'catchUp.within',
      'name',
      'nmae',
      'onCrash',
      'queue',
      'retry.attempts',
      'retry.backoff.cap',
      'retry.backoff.jitter',
      'tolerance.finish',
      'tolerance.start',
    ])
  })

  it('with a summary of three faults and the number of the rest', () => {
    expect(() => defineJob({} as never)).toThrow(/^job "\(without a name\)" is refused, 3 fault\(s\): name: expected/)
    expect(() => defineJob({ a: 1, b: 2 } as never)).toThrow(/; and 2 more$/)
  })

  it('for a tolerance to start beyond the period, but a minute is never too long', () => {
    expect(faultsOf({ ...sound, schedule: every('15m'), tolerance: { start: '20m' } })).toHaveLength(1)
    expect(faultsOf({ ...sound, schedule: every('1s'), tolerance: { start: '1m' } })).toEqual([])
    expect(faultsOf({ ...sound, schedule: cron('0 9 * * 1-5'), tolerance: { start: '60h', finish: '61h' } })).toEqual(
      [],
    )
  })
})

describe('a hostile value', () => {
  const cyclic: Record<string, unknown> = { ...sound }
  for (let key = 0; key < 30; key++) cyclic[`self${key}`] = cyclic
  const thrower = (): never => {
    throw new Error('no')
  }
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  const hostile: readonly (readonly [kind: string, value: unknown])[] = [
    ['null', null],
    ['a string', 'invoice-run'],
    ['an array', [sound]],
    ['a function', thrower],
    ['a cyclic object', cyclic],
    ['a getter that throws', Object.defineProperty({ ...sound }, 'queue', { get: thrower, enumerable: true })],
    [
      'a nested getter that throws',
      { ...sound, retry: Object.defineProperty({}, 'backoff', { get: thrower, enumerable: true }) },
    ],
    ['a proxy that throws', new Proxy({ ...sound }, { ownKeys: thrower })],
    ['a revoked proxy', revoked.proxy],
    ['a revoked proxy inside', { ...sound, tolerance: revoked.proxy, entity: revoked.proxy, schedule: revoked.proxy }],
    [
      'a class instance whose getters throw',
      {
        ...sound,
        chunk: new (class {
          get size() {
            return thrower()
          }
        })(),
      },
    ],
    [
      'a schema whose parse cannot be read',
      { ...sound, entity: { schema: Object.defineProperty({}, 'parse', { get: thrower }), key: String } },
    ],
    [
      'a value thrown that has no text',
      {
        ...sound,
        get version() {
          throw Object.create(null)
        },
      },
    ],
    ['a bigint and symbols', { ...sound, version: 1n, timeout: Symbol('t'), [Symbol('s')]: 1, queue: Symbol.iterator }],
    [
      'a hundred thousand unknown keys',
      { ...sound, ...Object.fromEntries(Array.from({ length: 100_000 }, (_, key) => [`k${key}`, key])) },
    ],
    ['a name of ten million characters', { ...sound, name: 'x'.repeat(10_000_000) }],
    ['an unknown key of a million characters', { ...sound, ['x'.repeat(1_000_000)]: 1 }],
  ]

  it.each(hostile)('is refused with faults and nothing else: %s', (_, value) => {
    const faults = faultsOf(value)
    expect(faults.length).toBeGreaterThan(0)
    expect(faults.length).toBeLessThan(60)
    for (const { message } of faults) expect(message.length).toBeLessThan(1_000)
  })

  it('is read once: what a getter says later is not used', () => {
    let reads = 0
    const job = defineJob({
      ...sound,
      get version() {
        return ++reads
      },
    } as never)
    expect([reads, job.version]).toEqual([1, 1])
  })

  it('never raises anything but a refusal, whatever it is', () => {
    const field = fc.constantFrom(
      ...Object.keys(sound),
      'catchUp',
      'tolerance',
      'entity',
      'retry',
      'chunk',
      'timeout',
      'queue',
      'enqueue',
      'was',
      'expire',
      'version',
    )
    fc.assert(
      fc.property(fc.dictionary(field, fc.anything({ maxDepth: 3 })), (input) => {
        expect(() => defineJob({ ...sound, ...input } as never)).not.toThrow(TypeError)
        try {
          defineJob({ ...sound, ...input } as never)
        } catch (error) {
          expect(error).toBeInstanceOf(CronceError)
        }
      }),
    )
  })
})
