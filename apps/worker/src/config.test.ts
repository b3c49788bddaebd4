import { readFileSync } from 'node:fs'
import { isCronceError, type Variable } from '@cronce/core'
import { describe, expect, it } from 'vitest'
import { readWorkerConfig, WORKER_VARIABLES } from './config.ts'

const EXAMPLE = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8')

type Row = readonly [name: string, about: string, unset: string | undefined]

/** The variables of the sections whose heading names this app; a line without # in front of it must be set. */
function documented(app: string): Row[] {
  const sections = EXAMPLE.split(/^## /m).filter((section) => section.split('\n')[0]?.includes(`apps/${app}`))
  const rows = sections.flatMap((section) => [...section.matchAll(/^# (.*)\n(#?)(\w+)=(.*)$/gm)])
  return rows
    .map(([, about = '', hash, name = '', value]): Row => [name, about, hash === '' ? undefined : value])
    .toSorted()
}

describe('.env.example', () => {
  it('has every variable of the worker with its text and default, and no other', () => {
    const variables = Object.entries<Variable>(WORKER_VARIABLES).map(([name, { about, default: unset }]): Row => {
      return [name, unset === undefined ? `${about} Must be set.` : about, unset]
    })
    expect(documented('worker')).toEqual(variables.toSorted())
  })

  it('is taken by the worker as it stands, every line of it', () => {
    const env = Object.fromEntries(
      [...EXAMPLE.matchAll(/^#?([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
    )
    expect(readWorkerConfig([], env)).toMatchObject({ CRONCE_QUEUES: { default: 5, reports: 2 }, CRONCE_LOCK: 30_000 })
  })
})

const WHOLE = { REDIS_URL: 'redis://h', CRONCE_RECEIVER_URL: 'http://h' }

function faults(read: () => unknown): readonly string[] {
  try {
    read()
  } catch (error) {
    if (isCronceError(error, 'CRONCE_CONFIG_INVALID'))
      return error.faults.map(({ path, message }) => `${path}: ${message}`)
    throw error
  }
  return []
}

describe('the configuration of the worker', () => {
  it('is refused with every fault at once', () => {
    const found = faults(() =>
      readWorkerConfig([], { PORT: 'http', CRONCE_QUEUE: 'a:1', CRONCE_RECEIVER_URL: 'ftp://h' }),
    )
    expect(found.map((fault) => fault.split(':')[0])).toEqual([
      'REDIS_URL',
      'PORT',
      'CRONCE_RECEIVER_URL',
      'CRONCE_QUEUE',
    ])
    expect(found.at(-1)).toContain('did you mean CRONCE_QUEUES?')
  })

  it('takes its queues from the command line before the environment', () => {
    const env = { ...WHOLE, CRONCE_QUEUES: 'default:1' }
    expect(readWorkerConfig(['--queues', 'billing:10,default:5'], env).CRONCE_QUEUES).toEqual({
      billing: 10,
      default: 5,
    })
    expect(readWorkerConfig([], env).CRONCE_QUEUES).toEqual({ default: 1 })
  })

  it('refuses options that it does not have', () => {
    expect(faults(() => readWorkerConfig(['--queue', 'a:1'], WHOLE))).toEqual([
      'command line: expected --queues name:concurrency,..., got --queue a:1',
    ])
  })

  it.each([
    ['billing', ['"billing"']],
    ['a:0,b:5000,c:1', ['"a:0"', '"b:5000"']],
    ['a:1,a:2', ['"a" twice']],
    ['a:1,', ['""']],
    ['{a}:1', ['"{a}:1"']],
  ])('refuses queues such as %s, every one of them', (queues, got) => {
    const found = faults(() => readWorkerConfig([], { ...WHOLE, CRONCE_QUEUES: queues }))
    expect(found).toHaveLength(got.length)
    found.forEach((fault, index) => expect(fault).toContain(`got ${got[index]}`))
  })
})
