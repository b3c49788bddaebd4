import { describe, expect, it } from 'vitest'
import { createSignInLimit, MOST_FAILURES } from './sign-in-limit.ts'

const WAIT = { code: 'CRONCE_CONSOLE_WAIT' }

async function fail(
  limit: ReturnType<typeof createSignInLimit>,
  address: string,
  times = MOST_FAILURES,
): Promise<void> {
  for (let number = 0; number < times; number++) await limit.wrong(address)
}

describe('the limit of wrong tokens', () => {
  it('is of one address, and of IPv6 one of its network', async () => {
    const limit = createSignInLimit()
    await fail(limit, '203.0.113.7')
    await fail(limit, '2001:db8:1:2:3:4:5:6')
    await fail(limit, '::ffff:198.51.100.7')
    for (const address of ['203.0.113.7', '2001:db8:1:2::9', '2001:db8:1:2:ffff:ffff:ffff:ffff', '::ffff:198.51.100.7'])
      await expect(limit.wrong(address)).rejects.toMatchObject(WAIT)
    for (const address of ['203.0.113.8', '2001:db8:1:3::9', '::ffff:198.51.100.8', '::1'])
      await expect(limit.wrong(address)).resolves.toBeUndefined()
  })

  it('is not reached by one less', async () => {
    const limit = createSignInLimit()
    await fail(limit, '203.0.113.7', MOST_FAILURES - 1)
    await expect(limit.wrong('203.0.113.7')).resolves.toBeUndefined()
  })

  it('counts 5,000 addresses a minute: more fill no memory, and lock nobody out', async () => {
    const limit = createSignInLimit()
    for (let number = 0; number < 5_000; number++) await limit.wrong(`10.0.${number >> 8}.${number & 255}`)
    await fail(limit, '203.0.113.7', 2 * MOST_FAILURES)
    await expect(limit.wrong('203.0.113.7')).resolves.toBeUndefined()
    await fail(limit, '10.0.0.7', MOST_FAILURES - 1)
    await expect(limit.wrong('10.0.0.7')).rejects.toMatchObject(WAIT)
  })
})
