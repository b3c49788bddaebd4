import { isCronceError } from '@cronce/core'
import { expect, it } from 'vitest'
import { readEnvironment, wantsNoColour } from './config.ts'

it('takes an empty variable for none', () => {
  expect(readEnvironment({ REDIS_URL: '', CRONCE_SERVICE: '' })).toEqual({})
  expect(wantsNoColour({ NO_COLOR: '' })).toBe(false)
  expect(wantsNoColour({ NO_COLOR: '1' })).toBe(true)
})

it('reads what is there and nothing else', () => {
  expect(
    readEnvironment({ REDIS_URL: 'rediss://u:p@redis.example:6380/2', CRONCE_SERVICE: 'billing', HOME: '/' }),
  ).toEqual({
    REDIS_URL: 'rediss://u:p@redis.example:6380/2',
    CRONCE_SERVICE: 'billing',
  })
})

it('refuses every bad variable at once, and shows no password', () => {
  try {
    readEnvironment({
      REDIS_URL: 'http://user:secret@host',
      CRONCE_SERVICE: ' '.repeat(3),
      CRONCE_OPERATOR: 'x'.repeat(200),
    })
    expect.unreachable()
  } catch (error) {
    if (!isCronceError(error, 'CRONCE_CONFIG_INVALID')) throw error
    expect(error.faults.map(({ path }) => path)).toEqual(['REDIS_URL', 'CRONCE_SERVICE', 'CRONCE_OPERATOR'])
    expect(error.message).not.toContain('secret')
  }
})
