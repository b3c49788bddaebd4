import { readFileSync } from 'node:fs'
import { isCronceError, type Variable } from '@cronce/core'
import { describe, expect, it } from 'vitest'
import { readServiceConfig, SERVICE_VARIABLES } from './config.ts'

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
  it('has every variable of the service with its text and default, and no other', () => {
    const variables = Object.entries<Variable>(SERVICE_VARIABLES).map(([name, { about, default: unset }]): Row => {
      return [name, unset === undefined ? `${about} Must be set.` : about, unset]
    })
    expect(documented('service')).toEqual(variables.toSorted())
  })

  it('is taken by the service as it stands, every line of it', () => {
    const env = Object.fromEntries(
      [...EXAMPLE.matchAll(/^#?([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
    )
    expect(readServiceConfig(env)).toMatchObject({ REDIS_URL: 'redis://127.0.0.1:6379', CRONCE_CLAIM_LEASE: 10_000 })
  })
})

describe('the configuration of the service', () => {
  it('is refused with every fault at once', () => {
    try {
      readServiceConfig({ PORT: 'http', CRONCE_CLAIM_LEASE: '1ms', CRONCE_REPLICA: 'x', LOG_LEVEL: 'verbose' })
      expect.unreachable()
    } catch (error) {
      if (!isCronceError(error, 'CRONCE_CONFIG_INVALID')) throw error
      expect(error.faults.map(({ path }) => path)).toEqual([
        'REDIS_URL',
        'PORT',
        'LOG_LEVEL',
        'CRONCE_CLAIM_LEASE',
        'CRONCE_REPLICA',
      ])
    }
  })
})
