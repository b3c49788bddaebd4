import { CronceError } from '@cronce/core'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Access } from './access.ts'
import { type Account, ROLES, type Role } from './tokens-text.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; undefined on the routes that anybody may ask. */
    account: Account | undefined
  }
  interface FastifyContextConfig {
    /** `public`: without an account. Else by method: viewer to read, operator to change. */
    readonly asks?: 'public'
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
}

/**
 * Refuses what the asker may not do, whatever the path: a route that is added later is guarded as well, and so is a path that
 * does not exist.
 */
export function guardRequests(app: FastifyInstance, { access, reach }: GuardOptions): void {
  app.decorateRequest('account', undefined)
  app.addHook('onRequest', async (request) => {
    if (reach === 'loopback') checkHost(request)
    const { asks } = request.routeOptions.config
    const isChange = !READS.includes(request.method)
    const bearer = bearerOf(request)
    const cookie = sessionOf(request)
    if (isChange && bearer === undefined) checkOrigin(request)
    request.account = bearer === undefined ? access.ofSession(cookie ?? '') : access.ofToken(bearer)
    if (asks === 'public') return
    const { account } = request
    if (account === undefined) {
      const got = bearer !== undefined ? 'a token it does not' : cookie === undefined ? 'none' : 'one that has ended'
      throw new CronceError('CRONCE_CONSOLE_SIGN_IN', { got })
    }
    if (isChange) requireRole(account, { needed: 'operator', method: request.method })
  })
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

/** A change by a session comes from our own page: the cookie alone proves nothing. */
function checkOrigin({ headers }: FastifyRequest): void {
  const refuse = (reason: string) => new CronceError('CRONCE_CONSOLE_ORIGIN', { reason })
  if (headers[CHANGE_HEADER] === undefined) throw refuse(`expected the header ${CHANGE_HEADER}`)
  const { origin, host } = headers
  if (origin !== undefined && hostOf(origin) !== host) throw refuse('it comes from the page of another host')
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin') throw refuse('it comes from the page of another host')
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}
