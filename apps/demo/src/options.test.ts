import { isCronceError } from '@cronce/core'
import { describe, expect, it } from 'vitest'
import { readOptions } from './options.ts'

const DEFAULTS = { replicas: '5', workers: '2', kill: true }

describe('the options of the demo', () => {
  it('are a run until Ctrl-C without --slots, a bounded one with it', () => {
    expect(readOptions(DEFAULTS)).toEqual({ kind: 'interactive', replicas: 5, workers: 2, kills: 'on' })
    expect(readOptions({ ...DEFAULTS, slots: '10', json: true, kill: false })).toEqual({
      kind: 'bounded',
      slots: 10,
      replicas: 5,
      workers: 2,
      output: 'json',
      kills: 'off',
    })
  })

  it('make a long report with --entities, beside ten slots', () => {
    expect(readOptions({ ...DEFAULTS, entities: '100000', killEvery: '2s' })).toMatchObject({
      kind: 'bounded',
      slots: 10,
      long: { entities: 100_000, killEveryMs: 2_000 },
    })
    expect(readOptions({ ...DEFAULTS, entities: '2000', slots: '3' })).toMatchObject({
      slots: 3,
      long: { entities: 2_000 },
    })
  })

  it.each([
    [{ killEvery: '2s' }, '--kill-every: expected --entities with it'],
    [{ killEvery: '2s', entities: '100', kill: false }, '--kill-every: expected it without --no-kill'],
    [{ killEvery: '1', entities: '100' }, '--kill-every:'],
    [{ entities: '0' }, '--entities: expected a whole number from 1'],
  ])('refuse %j', (change, message) => {
    expect(() => readOptions({ ...DEFAULTS, ...change })).toThrow(message)
  })

  it('are refused with every fault at once', () => {
    try {
      readOptions({ replicas: '0', workers: 'two', json: true, kill: true })
      expect.unreachable()
    } catch (error) {
      if (!isCronceError(error, 'CRONCE_CONFIG_INVALID')) throw error
      expect(error.faults).toEqual([
        { path: '--replicas', message: 'expected a whole number from 1 to 50, got "0"' },
        { path: '--workers', message: 'expected a whole number from 1 to 50, got "two"' },
        { path: '--json', message: 'expected --slots or --entities with it: a run until Ctrl-C has no last line' },
      ])
    }
  })
})
