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
    expect(access.signIn(link)).toBeUndefined()
    expect(access.followLink(link)?.account).toEqual({ name: 'console', role: 'operator' })
    expect(access.followLink(link)).toBeUndefined()
  })

  it('is by no token in place of the link', () => {
    const access = open({ name: 'console', role: 'operator' })
    expect(access.followLink(TOKEN)).toBeUndefined()
    expect(access.followLink(access.linkToken ?? '')?.account.name).toBe('console')
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

  it('keeps no more than fifty sessions of an account: one that signs in for ever pushes out nobody else', () => {
    const tokens = [
      { name: 'ada', role: 'admin', token: TOKEN },
      { name: 'vera', role: 'viewer', token: `${TOKEN}2` },
    ] as const
    const access = createAccess({ tokens, link: undefined, sessionMs: 1_000, clock })
    const ofAda = access.signIn(TOKEN)?.secret ?? ''
    const ofVera = Array.from({ length: 1_100 }, () => access.signIn(`${TOKEN}2`)?.secret ?? '')
    expect(access.ofSession(ofAda)?.name).toBe('ada')
    expect(ofVera.filter((secret) => access.ofSession(secret) !== undefined)).toEqual(ofVera.slice(-50))
  })

  it('keeps no more than a thousand sessions in all', () => {
    const names = Array.from({ length: 21 }, (_, number) => `account-${number}`)
    const tokens = names.map((name) => ({ name, role: 'viewer', token: `${TOKEN}-${name}` }) as const)
    const access = createAccess({ tokens, link: undefined, sessionMs: 1_000, clock })
    const secrets = tokens.flatMap(({ token }) => Array.from({ length: 50 }, () => access.signIn(token)?.secret ?? ''))
    expect(secrets.filter((secret) => access.ofSession(secret) !== undefined)).toEqual(secrets.slice(-1_000))
  })
})
