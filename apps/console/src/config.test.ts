import { readFileSync } from 'node:fs'
import { isCronceError, type Variable } from '@cronce/core'
import { describe, expect, it } from 'vitest'
import { CONSOLE_VARIABLES, readConsoleConfig } from './config.ts'

const EXAMPLE = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8')
const TOKEN = 'a-token-of-sixteen-or-more'
const WHOLE = { REDIS_URL: 'redis://h' }

type Row = readonly [name: string, about: string, unset: string | undefined]

/** The variables of the sections whose heading names this app; a line without # in front of it must be set. */
function documented(app: string): Row[] {
  const sections = EXAMPLE.split(/^## /m).filter((section) => section.split('\n')[0]?.includes(`apps/${app}`))
  const rows = sections.flatMap((section) => [...section.matchAll(/^# (.*)\n(#?)(\w+)=(.*)$/gm)])
  return rows
    .map(([, about = '', hash, name = '', value]): Row => [name, about, hash === '' ? undefined : value])
    .toSorted()
}

function faults(env: Record<string, string>): string[] {
  try {
    readConsoleConfig({ ...WHOLE, ...env })
  } catch (error) {
    if (isCronceError(error, 'CRONCE_CONFIG_INVALID')) return error.faults.map(({ message }) => message)
  }
  return []
}

describe('.env.example', () => {
  it('has every variable of the console with its text and default, and no other', () => {
    const variables = Object.entries<Variable>(CONSOLE_VARIABLES).map(([name, { about, default: unset }]): Row => {
      return [name, unset === undefined ? `${about} Must be set.` : about, unset]
    })
    expect(documented('console')).toEqual(variables.toSorted())
  })

  it('is taken by the console as it stands, every line of it', () => {
    const env = Object.fromEntries(
      [...EXAMPLE.matchAll(/^#?([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
    )
    expect(readConsoleConfig(env)).toMatchObject({ CRONCE_CONSOLE_TOKENS: [], CRONCE_CONSOLE_LINK: 'operator' })
  })
})

describe('tokens', () => {
  it('make accounts', () => {
    const config = readConsoleConfig({ ...WHOLE, CRONCE_CONSOLE_TOKENS: `ada:admin:${TOKEN} vera:viewer:${TOKEN}2` })
    expect(config.CRONCE_CONSOLE_TOKENS).toEqual([
      { name: 'ada', role: 'admin', token: TOKEN },
      { name: 'vera', role: 'viewer', token: `${TOKEN}2` },
    ])
  })

  it('are refused with every fault at once, and are in no message', () => {
    const text = `ada:boss:${TOKEN} vera:viewer:tooshort :viewer:${TOKEN} a:viewer:${TOKEN}x b:admin:${TOKEN}x`
    const messages = faults({ CRONCE_CONSOLE_TOKENS: text })
    expect(messages).toHaveLength(4)
    expect(messages.join()).not.toMatch(/a-token|tooshort/)
  })
})

describe('secrets of the signed trigger', () => {
  it('are by job, several of one while it is changed; names are percent-encoded', () => {
    const text = `a%3Ab:${TOKEN}, c:${TOKEN},a%3Ab:${TOKEN}2`
    const { CRONCE_TRIGGER_SECRETS: secrets } = readConsoleConfig({ ...WHOLE, CRONCE_TRIGGER_SECRETS: text })
    expect(Object.fromEntries(secrets)).toEqual({ 'a:b': [TOKEN, `${TOKEN}2`], c: [TOKEN] })
  })

  it('are refused with every fault at once, and are in no message', () => {
    const text = `a:tooshort,:${TOKEN},b:${TOKEN},b:${TOKEN},c:${TOKEN}:x,d e:${TOKEN},%zz:${TOKEN}`
    const messages = faults({ CRONCE_TRIGGER_SECRETS: text })
    expect(messages).toHaveLength(6)
    expect(messages.join()).not.toMatch(/a-token|tooshort/)
  })
})

describe('where a trace is seen', () => {
  it('has a place for its id', () => {
    const url = 'https://traces.example/trace/{trace}'
    expect(readConsoleConfig({ ...WHOLE, CRONCE_CONSOLE_TRACE_URL: url }).CRONCE_CONSOLE_TRACE_URL).toBe(url)
    const [fault] = faults({ CRONCE_CONSOLE_TRACE_URL: 'https://traces.example/' })
    expect(fault).toContain('expected {trace}')
    expect(faults({ CRONCE_CONSOLE_TRACE_URL: 'javascript:alert("{trace}")' })).toHaveLength(1)
  })
})

describe('a proxy that is told by its address', () => {
  const PROXY = { CRONCE_CONSOLE_PROXY_HEADER: 'x-user', CRONCE_CONSOLE_PROXY_ROLES: '*:viewer' }

  it.each(['127.0.0.7', '127.128.0.0/9', '0.0.0.0/1', '::1', '::/1', '::ffff:127.0.0.1', '::ffff:0:0/96'])(
    'needs a secret too where programs of this machine have that address: %s',
    (CRONCE_CONSOLE_PROXY_FROM) => {
      const env = { ...PROXY, CRONCE_CONSOLE_PROXY_FROM: `10.0.0.7 ${CRONCE_CONSOLE_PROXY_FROM}` }
      expect(faults(env)).toEqual([expect.stringContaining('expected a secret, because every program of this machine')])
      expect(faults({ ...env, CRONCE_CONSOLE_PROXY_SECRET: TOKEN })).toEqual([])
    },
  )

  it.each(['10.0.0.7', '128.0.0.0/1', 'fd00::/8', '::ffff:10.0.0.7'])('needs none elsewhere: %s', (from) => {
    expect(faults({ ...PROXY, CRONCE_CONSOLE_PROXY_FROM: from })).toEqual([])
  })
})

describe('an address beyond this machine', () => {
  it.each(['0.0.0.0', '10.0.0.7', '::', 'example.com', '127.evil.example'])('needs tokens or a proxy: %s', (HOST) => {
    expect(faults({ HOST })).toEqual([expect.stringContaining('expected at least one token or a proxy')])
    expect(faults({ HOST, CRONCE_CONSOLE_TOKENS: `ada:admin:${TOKEN}` })).toEqual([])
    const proxy = { CRONCE_CONSOLE_PROXY_HEADER: 'x-user', CRONCE_CONSOLE_PROXY_ROLES: '*:viewer' }
    expect(faults({ HOST, ...proxy, CRONCE_CONSOLE_PROXY_FROM: '10.1.0.0/16' })).toEqual([])
    expect(faults({ HOST, ...proxy })).toEqual([expect.stringContaining('expected a secret')])
    const idle = { CRONCE_CONSOLE_PROXY_ROLES: '*:viewer', CRONCE_CONSOLE_PROXY_GROUPS: 'x-groups' }
    expect(faults({ HOST: '127.0.0.1', ...idle })).toHaveLength(2)
    // A proxy that signs nobody in has an address, and gives nobody a way in.
    const named = { HOST, CRONCE_CONSOLE_PROXY_FROM: '10.1.0.0/16' }
    expect(faults(named)).toEqual([expect.stringContaining('expected at least one token or a proxy')])
    expect(faults({ ...named, CRONCE_CONSOLE_TOKENS: `ada:admin:${TOKEN}` })).toEqual([])
  })

  it.each(['127.0.0.1', '::1', 'localhost'])('is not %s', (HOST) => {
    expect(faults({ HOST })).toEqual([])
  })
})
