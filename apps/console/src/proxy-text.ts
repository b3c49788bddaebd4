import { isIP } from 'node:net'
import { ROLES, type Role } from '@cronce/operations'
import { z } from 'zod'

/** Whom a role is for: a name, the members of a group, or whoever the proxy lets through. */
export interface RoleGrant {
  readonly to: 'user' | 'group' | 'everybody'
  readonly name: string
  readonly role: Role
}

/** `ada@example.com:admin @oncall:operator *:viewer`, separated by blanks. */
export function grantsText(): z.ZodType<readonly RoleGrant[]> {
  return listText((entry, place) => {
    const [, name = '', roleText = ''] = /^(.+):([^:]+)$/.exec(entry) ?? []
    const role = ROLES.find((candidate) => candidate === roleText)
    if (role === undefined || name === '@') {
      return `expected name:role, @group:role or *:role at place ${place}, with one of ${ROLES.join(', ')}`
    }
    if (name === '*') return { to: 'everybody', name, role }
    return name.startsWith('@') ? { to: 'group', name: name.slice(1), role } : { to: 'user', name, role }
  })
}

/** Addresses and networks, `10.0.0.7 10.1.0.0/16 fd00::/8`, separated by blanks. */
export function networksText(): z.ZodType<readonly string[]> {
  return listText((entry, place) => {
    const [address = '', bits, ...rest] = entry.split('/')
    const family = isIP(address)
    const most = family === 4 ? 32 : 128
    const isNetwork = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= most)
    if (family !== 0 && rest.length === 0 && isNetwork) return { ok: entry }
    return `expected an address such as 10.0.0.7 or a network such as 10.1.0.0/16 at place ${place}`
  }).transform((networks) => networks.map(({ ok }) => ok))
}

/** Headers that mean something else already: an identity in one of them would be anybody's. */
const TAKEN = ['authorization', 'cookie', 'host', 'origin', 'content-type', 'content-length', 'connection']

/** The name of a header, in small letters; unset where it is empty. */
export function headerNameText(): z.ZodType<string | undefined> {
  return z.string().transform((text, context) => {
    const name = text.toLowerCase()
    if (name === '') return undefined
    if (/^[a-z0-9-]{1,64}$/.test(name) && !TAKEN.includes(name)) return name
    context.addIssue('expected the name of a header of the proxy, such as x-forwarded-user')
    return z.NEVER
  })
}

/** A secret of 16 to 256 visible ASCII characters; unset where it is empty. It is in no message. */
export function secretText(): z.ZodType<string | undefined> {
  return z.string().transform((text, context) => {
    if (text === '') return undefined
    if (/^[\x21-\x7e]{16,256}$/.test(text)) return text
    context.addIssue('expected 16 to 256 visible ASCII characters')
    return z.NEVER
  })
}

function listText<T extends object>(read: (entry: string, place: number) => T | string): z.ZodType<readonly T[]> {
  return z.string().transform((text, context) => {
    const entries = text.split(/\s+/).filter((entry) => entry !== '')
    return entries.flatMap((entry, index) => {
      const value = read(entry, index + 1)
      if (typeof value !== 'string') return [value]
      context.addIssue(value)
      return []
    })
  })
}
