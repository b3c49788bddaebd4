import { describe, expect, it } from 'vitest'
import { type CronceError, isCronceError } from '../errors/cronce-error.ts'
import { readEnvironment, type Variables } from './read-environment.ts'
import { durationText, lineText, optionalText, portText, urlText, wordText } from './variable-text.ts'

const VARIABLES = {
  STORE_URL: { about: 'where', schema: urlText(['redis:', 'rediss:']) },
  PORT: { about: 'port', default: '0', schema: portText() },
  SHOP_NAME: { about: 'name', default: 'shop', schema: lineText() },
  SHOP_LEASE: { about: 'lease', default: '10s', schema: durationText({ leastMs: 1_000, mostMs: 60_000 }) },
  SHOP_ID: { about: 'id', default: '', schema: optionalText() },
  LOG_LEVEL: { about: 'level', default: 'info', schema: wordText(['debug', 'info']) },
} as const satisfies Variables

const read = (env: Record<string, string>) =>
  readEnvironment(VARIABLES, { env, prefix: 'SHOP_', alsoKnown: ['SHOP_OTHER'] })

function refusal(env: Record<string, string>): CronceError {
  try {
    read(env)
  } catch (error) {
    if (isCronceError(error, 'CRONCE_CONFIG_INVALID')) return error
  }
  throw new Error('expected a refusal')
}

describe('readEnvironment', () => {
  it('fills defaults, and takes set to nothing as not set', () => {
    expect(read({ STORE_URL: 'redis://10.0.0.1:6379', PORT: '', SHOP_LEASE: '2500', LOG_LEVEL: 'debug' })).toEqual({
      STORE_URL: 'redis://10.0.0.1:6379',
      PORT: 0,
      SHOP_NAME: 'shop',
      SHOP_LEASE: 2_500,
      SHOP_ID: undefined,
      LOG_LEVEL: 'debug',
    })
  })

  it('reports every fault at once, by variable', () => {
    const { faults } = refusal({ PORT: '70000', SHOP_LEASE: 'soon', LOG_LEVEL: 'debig', SHOP_LAESE: '2s' })
    expect(faults).toEqual([
      { path: 'STORE_URL', message: 'expected a URL that begins with redis:// or rediss://, got nothing' },
      { path: 'PORT', message: 'expected a port from 0 to 65535, got "70000"' },
      { path: 'SHOP_LEASE', message: expect.stringContaining('got "soon"') },
      { path: 'LOG_LEVEL', message: 'expected "debug" or "info", got "debig", did you mean "debug"?' },
      { path: 'SHOP_LAESE', message: 'unknown variable, did you mean SHOP_LEASE?' },
    ])
  })

  it('leaves names without the prefix, and those of others, alone', () => {
    expect(() => read({ STORE_URL: 'redis://h', PATH: '/bin', SHOPPING: 'x', SHOP_OTHER: '1' })).not.toThrow()
  })

  it('refuses a duration out of its range', () => {
    const [fault] = refusal({ STORE_URL: 'redis://h', SHOP_LEASE: '5m' }).faults
    expect(fault?.message).toBe('expected a duration from 1s to 1m, got "5m"')
  })

  it.each(['http://user:secret@host', 'user:secret@host', 'redis:secret@'])('shows no password of %s', (url) => {
    expect(refusal({ STORE_URL: url }).message).not.toContain('secret')
  })
})
