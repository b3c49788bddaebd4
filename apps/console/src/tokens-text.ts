import { ROLES, type Role } from '@cronce/operations'
import { z } from 'zod'

/** Somebody who may use the console. */
export interface Account {
  /** Written beside what they change. */
  readonly name: string
  readonly role: Role
}

/** An account and its token. */
export interface TokenAccount extends Account {
  readonly token: string
}

const SHORTEST_TOKEN = 16
const LONGEST_TOKEN = 256

/** `name:role:token`, separated by blanks. A token is in no message. */
export function tokensText(): z.ZodType<readonly TokenAccount[]> {
  return z.string().transform((text, context) => {
    const accounts = text
      .split(/\s+/)
      .filter((entry) => entry !== '')
      .map((entry, index) => readAccount(entry, index + 1))
    const faults = accounts.filter((account) => typeof account === 'string')
    const sound = accounts.filter((account) => typeof account !== 'string')
    const doubles = sound.filter(({ token }, index) => sound.findIndex((other) => other.token === token) !== index)
    faults.push(...doubles.map(({ name }) => `expected a token of its own for ${name}, got another account's`))
    for (const message of faults) context.addIssue({ code: 'custom', message })
    return sound
  })
}

function readAccount(entry: string, place: number): TokenAccount | string {
  const [name = '', role = '', token = '', ...rest] = entry.split(':')
  const expected = `expected name:role:token at place ${place}`
  if (!/^[\p{L}\p{N}._@-]{1,64}$/u.test(name)) return `${expected}, with letters, digits and ._@- in the name`
  const known = ROLES.find((candidate) => candidate === role)
  if (known === undefined) return `${expected}, with one of ${ROLES.join(', ')} as the role of ${name}`
  const isToken = rest.length === 0 && token.length >= SHORTEST_TOKEN && token.length <= LONGEST_TOKEN
  if (!isToken || !/^[\x21-\x7e]+$/.test(token)) {
    return `${expected}, with ${SHORTEST_TOKEN} to ${LONGEST_TOKEN} visible ASCII characters other than ":" as the token of ${name}`
  }
  return { name, role: known, token }
}
