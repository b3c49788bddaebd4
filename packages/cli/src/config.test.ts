import { isCronceError } from '@cronce/core'
import { expect, it } from 'vitest'
import { readCliEnvironment, wantsNoColour } from './config.ts'

it('takes an empty variable for none', () => {
  const nothing = { REDIS_URL: undefined, CRONCE_SERVICE: undefined }
  expect(readCliEnvironment({ REDIS_URL: '', CRONCE_SERVICE: '' })).toEqual(nothing)
  expect(readCliEnvironment({})).toEqual(nothing)
  expect(wantsNoColour({ NO_COLOR: '' })).toBe(false)
  expect(wantsNoColour({ NO_COLOR: '1' })).toBe(true)
})

it('reads its own variables beside those of the apps', () => {
  const env = { REDIS_URL: 'rediss://u:p@redis.example:6380/2', CRONCE_SERVICE: 'billing', CRONCE_CLAIM_LEASE: '10s' }
  expect(readCliEnvironment(env)).toEqual({ REDIS_URL: env.REDIS_URL, CRONCE_SERVICE: 'billing' })
})

it('refuses every bad variable at once, and shows no password', () => {
  try {
    readCliEnvironment({ REDIS_URL: 'http://user:secret@host', CRONCE_SERVICE: 'x\u0000y' })
    expect.unreachable()
  } catch (error) {
    if (!isCronceError(error, 'CRONCE_CONFIG_INVALID')) throw error
    expect(error.faults.map(({ path }) => path)).toEqual(['REDIS_URL', 'CRONCE_SERVICE'])
    expect(error.message).not.toContain('secret')
  }
})
