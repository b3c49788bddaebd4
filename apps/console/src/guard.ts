import { CronceError } from '@cronce/core'
import { ROLES, type Role } from '@cronce/operations'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Access } from './access.ts'
import { createProxyReader, identityRefusal, type ProxyIdentity, type ProxyOptions } from './proxy.ts'
import type { SignInLimit } from './sign-in-limit.ts'
import type { Account } from './tokens-text.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; undefined on the routes that anybody may ask. */
    account: Account | undefined
    /** By what: only a session ends before its process. */
    signedInBy: 'proxy' | 'token' | 'session' | undefined
  }
  interface FastifyContextConfig {
    /** `public`: without an account. `signature`: the route checks one itself. Else by method: viewer to read, operator to change. */
    readonly asks?: 'public' | 'signature'
  }
}

export const SESSION_COOKIE = 'cronce_session'

/** A page of another host cannot send this header without asking first, and is never answered yes. */
export const CHANGE_HEADER = 'x-cronce-console'

const READS = ['GET', 'HEAD']

export interface GuardOptions {
  readonly access: Access
  /** Only this machine reaches the port: then only its own names are taken as `Host`. */
  readonly reach: 'loopback' | 'network'
  /** Undefined: identity headers mean nothing. */
  readonly proxy: ProxyOptions | undefined
  readonly limit: SignInLimit
}

/**
 * Refuses what the asker may not do, whatever the path: a route that is added later is guarded as well, and so is a path that
 * does not exist.
 */
export function guardRequests(app: FastifyInstance, { access, reach, proxy, limit }: GuardOptions): void {
  const readProxy = proxy === undefined ? (): ProxyIdentity => ({ status: 'none' }) : createProxyReader(proxy)
  app.decorateRequest('account', undefined)
  app.decorateRequest('signedInBy', undefined)
  app.addHook('onRequest', async (request) => {
    const { asks } = request.routeOptions.config
    if (asks === 'signature') return
    const identity = readProxy(request)
    if (identity.status === 'forged') {
      await limit.wrong(request.ip)
      throw identityRefusal(identity)
    }
    // A proxy has a name of its own, and has shown who it is.
    if (reach === 'loopback' && identity.status === 'none') checkHost(request)
    const isChange = !READS.includes(request.method)
    const bearer = identity.status === 'none' ? bearerOf(request) : undefined
    if (isChange && bearer === undefined) checkOrigin(request, identity)
    request.account = await accountOf(request, { bearer, identity })
    request.signedInBy = identity.status === 'known' ? 'proxy' : bearer === undefined ? 'session' : 'token'
    if (asks === 'public') return
    const { account } = request
    if (account === undefined) throw identityRefusal(identity) ?? signInError(request, bearer)
    if (isChange) requireRole(account, { needed: 'operator', method: request.method })
  })

  /** The word of the proxy goes before a session, which somebody else may have begun in the same browser. */
  async function accountOf(
    request: FastifyRequest,
    { bearer, identity }: { bearer: string | undefined; identity: ProxyIdentity },
  ): Promise<Account | undefined> {
    if (identity.status === 'known') return identity.account
    if (bearer === undefined) return access.ofSession(sessionOf(request) ?? '')
    const account = access.ofToken(bearer)
    if (account === undefined) await limit.wrong(request.ip)
    return account
  }
}

function signInError(request: FastifyRequest, bearer: string | undefined): CronceError {
  const cookie = sessionOf(request)
  const got = bearer !== undefined ? 'a token it does not' : cookie === undefined ? 'none' : 'one that has ended'
  return new CronceError('CRONCE_CONSOLE_SIGN_IN', { got })
}

function requireRole(account: Account, { needed, method }: { needed: Role; method: string }): void {
  const { name, role } = account
  if (ROLES.indexOf(role) >= ROLES.indexOf(needed)) return
  throw new CronceError('CRONCE_CONSOLE_ROLE', { name, role, needed, method })
}

/** The secret of the session that a request carries. */
export function sessionOf({ headers }: FastifyRequest): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${SESSION_COOKIE}=`))?.slice(SESSION_COOKIE.length + 1)
}

function bearerOf({ headers }: FastifyRequest): string | undefined {
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
}

/** A page elsewhere may point a name of its own at 127.0.0.1, and would then share its origin with us. */
function checkHost({ headers }: FastifyRequest): void {
  const host = (headers.host ?? '').replace(/:\d+$/, '')
  if (['localhost', '[::1]'].includes(host) || /^127(\.\d{1,3}){3}$/.test(host)) return
  throw new CronceError('CRONCE_CONSOLE_ORIGIN', { reason: 'expected a loopback address as Host' })
}

/** A change by a session, ours or the proxy's, comes from our own page: the cookie alone proves nothing. */
function checkOrigin({ headers }: FastifyRequest, identity: ProxyIdentity): void {
  const refuse = (reason: string) => new CronceError('CRONCE_CONSOLE_ORIGIN', { reason })
  if (headers[CHANGE_HEADER] === undefined) throw refuse(`expected the header ${CHANGE_HEADER}`)
  const { origin } = headers
  const forwarded = identity.status === 'known' ? headers['x-forwarded-host'] : undefined
  const host = typeof forwarded === 'string' ? forwarded : headers.host
  if (origin !== undefined && hostOf(origin) !== host) throw refuse('it comes from the page of another host')
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin') throw refuse('it comes from the page of another host')
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}
