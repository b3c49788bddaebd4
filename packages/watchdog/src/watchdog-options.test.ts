import { isCronceError } from '@cronce/core'
import { describe, expect, it } from 'vitest'
import { checkSettings, type WatchdogSettings } from './watchdog-options.ts'
import { webhookNotifier } from './webhook-notifier.ts'

function faultsOf(make: () => unknown): readonly string[] {
  try {
    make()
    return []
  } catch (error) {
    if (!isCronceError(error, 'CRONCE_WATCHDOG_INVALID')) throw error
    return error.faults.map(({ path }) => path)
  }
}

const notifier = { name: 'pager', notify: async () => undefined }

describe('the settings of a watchdog', () => {
  it('are taken as they are meant', () => {
    const settings = { interval: '15s', notifiers: [notifier], heartbeats: { a: 'https://hc.example.com/x' } }
    expect(checkSettings(settings)).toEqual({
      intervalMs: 15_000,
      notifiers: [notifier],
      heartbeats: new Map([['a', 'https://hc.example.com/x']]),
    })
  })

  it('are refused with every fault at once', () => {
    const settings = {
      interval: '1ms',
      notifiers: [notifier, { ...notifier }, { name: 'no function' }],
      heartbeats: { a: 'ftp://x', b: 'secret' },
    } as unknown as WatchdogSettings
    expect(faultsOf(() => checkSettings(settings))).toEqual([
      ...['interval', 'notifiers[1]', 'notifiers[2]', 'heartbeats.a', 'heartbeats.b'],
    ])
  })

  it('show no URL and no secret of a webhook that is refused', () => {
    try {
      webhookNotifier({ url: 'file:///etc/secret-place', secret: 'too short' })
      expect.unreachable()
    } catch (error) {
      expect(String(error)).not.toMatch(/secret-place|too short/)
      expect(
        faultsOf(() => {
          throw error
        }),
      ).toEqual(['url', 'secret'])
    }
  })
})
