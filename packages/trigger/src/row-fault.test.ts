import { describe, expect, it } from 'vitest'
import { isRowFault } from './row-fault.ts'

describe('an error', () => {
  it.each([
    'WRONGTYPE Operation against a key holding the wrong kind of value script: 84098f, on @user_script:292.',
    'ERR Error running script (call to f_84098f): @user_script:31: @user_script: 31: WRONGTYPE Operation against a key',
    'ERR user_script:36: attempt to compare nil with number script: 84098f, on @user_script:36.',
  ])('about what one job’s keys hold is a fault of its row: %s', (message) => {
    expect(isRowFault(new Error(message))).toBe(true)
  })

  it.each([
    "OOM command not allowed when used memory > 'maxmemory'. script: 84098f, on @user_script:60.",
    "ERR Error running script (call to f_84098f): @user_script:60: @user_script: 60: -OOM command not allowed when used memory > 'maxmemory'.",
    "READONLY You can't write against a read only replica. script: 84098f, on @user_script:60.",
    'LOADING Redis is loading the dataset in memory',
    'Connection is closed.',
    'connect ECONNREFUSED 127.0.0.1:6379',
  ])('about the store is none: %s', (message) => {
    expect(isRowFault(new Error(message))).toBe(false)
  })
})
