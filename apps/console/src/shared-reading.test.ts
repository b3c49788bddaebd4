import { describe, expect, it } from 'vitest'
import { shareReading } from './shared-reading.ts'

describe('a shared reading', () => {
  it('is made once for all who ask meanwhile, and anew for whoever asks after it', async () => {
    let readings = 0
    let finish: (value: string) => void = () => undefined
    const read = () => {
      readings += 1
      return new Promise<string>((resolve) => (finish = resolve))
    }
    const share = shareReading<string>()
    const both = [share('a', read), share('a', read)]
    expect(readings).toBe(1)
    finish('first')
    expect(await Promise.all(both)).toEqual(['first', 'first'])
    const after = share('a', read)
    expect(readings).toBe(2)
    finish('second')
    expect(await after).toBe('second')
  })

  it('fails for all who wait for it, and for nobody after it', async () => {
    const share = shareReading<string>()
    const fails = () => Promise.reject(new Error('Redis is away'))
    const both = await Promise.allSettled([share('a', fails), share('a', fails)])
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await share('a', async () => 'back')).toBe('back')
  })

  it('is of what was asked for, and nothing else', async () => {
    const share = shareReading<string>()
    expect(await Promise.all([share('a', async () => 'a'), share('b', async () => 'b')])).toEqual(['a', 'b'])
  })
})
