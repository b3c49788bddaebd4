import type { Clock } from '@cronce/core'
import { describe, expect, it } from 'vitest'
import { createAccess } from './access.ts'

const TOKEN = 'a-token-of-sixteen-or-more'
let now = 0
const clock: Clock = { now: () => now, after: () => () => undefined }

const open = (link?: { name: string; role: 'operator' }) =>
  createAccess({ tokens: [{ name: 'ada', role: 'admin', token: TOKEN }], link, sessionMs: 1_000, clock })

describe('access', () => {
  it('is by token, and by no part of one', () => {
    const access = open()
    expect(access.ofToken(TOKEN)).toEqual({ name: 'ada', role: 'admin' })
    for (const other of ['', TOKEN.slice(1), `${TOKEN} `]) expect(access.ofToken(other)).toBeUndefined()
    expect([access.linkToken, access.signIn('')]).toEqual([undefined, undefined])
  })

  it('is by the link, once, and the link is no token', () => {
    const access = open({ name: 'console', role: 'operator' })
    const link = access.linkToken ?? ''
    expect(access.ofToken(link)).toBeUndefined()
    expect(access.signIn(link)?.account).toEqual({ name: 'console', role: 'operator' })
    expect(access.signIn(link)).toBeUndefined()
  })

  it('ends with its session: by time, and by signing out', () => {
    const access = open()
    const secret = access.signIn(TOKEN)?.secret ?? ''
    expect(access.ofSession(secret)?.name).toBe('ada')
    now += 1_001
    expect(access.ofSession(secret)).toBeUndefined()
    const other = access.signIn(TOKEN)?.secret ?? ''
    access.signOut(other)
    expect(access.ofSession(other)).toBeUndefined()
  })

  it('keeps no more than a thousand sessions', () => {
    const access = open()
    const first = access.signIn(TOKEN)?.secret ?? ''
    for (let count = 0; count < 1_000; count++) access.signIn(TOKEN)
    expect(access.ofSession(first)).toBeUndefined()
  })
})
