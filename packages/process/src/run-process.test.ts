import { CronceError } from '@cronce/core'
import { expect, it } from 'vitest'
import { refusalOf } from './run-process.ts'

it('a refused configuration is told with every fault, and apart from other failures', () => {
  const faults = [
    { path: 'PORT', message: 'expected a port, got http' },
    { path: 'REDIS_URL', message: 'expected a URL' },
  ]
  const refused = new CronceError('CRONCE_CONFIG_INVALID', { count: 2, summary: '' }, { faults })
  expect(refusalOf('worker', refused)).toEqual({
    text: 'the configuration is refused:\n  PORT: expected a port, got http\n  REDIS_URL: expected a URL',
    exitCode: 2,
  })
  expect(refusalOf('worker', new RangeError('too far'))).toEqual({
    text: 'the worker did not start:\nRangeError: too far',
    exitCode: 1,
  })
})
