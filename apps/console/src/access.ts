import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '@cronce/core'
import type { Role } from '@cronce/operations'
import type { Account, TokenAccount } from './tokens-text.ts'

export interface AccessOptions {
  readonly tokens: readonly TokenAccount[]
  /** Whom the sign-in link makes of its bearer; undefined: there is none. */
  readonly link: { readonly name: string; readonly role: Role } | undefined
  readonly sessionMs: number
  readonly clock: Clock
}

/** Who may do what: tokens, the link that works once, and the sessions that both begin. */
export interface Access {
  /** The secret of the sign-in link; undefined where there is none. */
  readonly linkToken: string | undefined
  /** The account of a token. */
  ofToken(token: string): Account | undefined
  /** Begins a session by a token. */
  signIn(token: string): SignedIn | undefined
  /** Begins a session by the link, which is used up. A token is none: it would stay in the browser's history. */
  followLink(secret: string): SignedIn | undefined
  ofSession(secret: string): Account | undefined
  signOut(secret: string): void
}

/** A session that begins, and the secret of its cookie. */
export interface SignedIn {
  readonly secret: string
  readonly account: Account
}

/** Of the link: it fits a line of a terminal, works once, and cannot be guessed all the same. */
const LINK_BYTES = 16

/** Sessions at once; the oldest gives way. */
const MOST_SESSIONS = 1_000

/** Of them, those of one account: whoever signs in for ever pushes out nobody else. */
const MOST_OF_ACCOUNT = 50

/** Holds sessions in this process: they end with it. */
export function createAccess({ tokens, link, sessionMs, clock }: AccessOptions): Access {
  const accounts = tokens.map(({ name, role, token }) => ({ account: { name, role }, digest: digestOf(token) }))
  const sessions = new Map<string, { account: Account; untilAt: number }>()
  const linkToken = link === undefined ? undefined : secretText(LINK_BYTES)
  let openLink = linkToken === undefined ? undefined : digestOf(linkToken)

  const ofToken = (token: string): Account | undefined => {
    const digest = digestOf(token)
    return accounts.find((candidate) => timingSafeEqual(candidate.digest, digest))?.account
  }
  const useLink = (token: string): Account | undefined => {
    if (link === undefined || openLink === undefined || !timingSafeEqual(openLink, digestOf(token))) return undefined
    openLink = undefined
    return link
  }
  const begin = (account: Account | undefined): SignedIn | undefined => {
    if (account === undefined) return undefined
    const all = [...sessions.keys()]
    const own = all.filter((key) => isSame(sessions.get(key)?.account, account))
    const [oldest] = own.length >= MOST_OF_ACCOUNT ? own : all.length >= MOST_SESSIONS ? all : []
    if (oldest !== undefined) sessions.delete(oldest)
    const secret = secretText()
    sessions.set(keyOf(secret), { account, untilAt: clock.now() + sessionMs })
    return { secret, account }
  }
  return {
    linkToken,
    ofToken,
    signIn: (token) => begin(ofToken(token)),
    followLink: (secret) => begin(useLink(secret)),
    ofSession(secret) {
      const session = sessions.get(keyOf(secret))
      if (session === undefined) return undefined
      if (session.untilAt > clock.now()) return session.account
      sessions.delete(keyOf(secret))
      return undefined
    },
    signOut(secret) {
      sessions.delete(keyOf(secret))
    },
  }
}

function isSame(one: Account | undefined, other: Account): boolean {
  return one?.name === other.name && one.role === other.role
}

function secretText(bytes = 32): string {
  return randomBytes(bytes).toString('base64url')
}

/** Compared as digests: of equal length, and how long a comparison takes tells nothing. */
function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

function keyOf(secret: string): string {
  return digestOf(secret).toString('base64url')
}
