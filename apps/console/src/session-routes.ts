import { CronceError } from '@cronce/core'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Access, SignedIn } from './access.ts'
import type { SessionAnswer } from './answers.ts'
import { SESSION_COOKIE, sessionOf } from './guard.ts'
import { readInput } from './input.ts'
import type { SignInLimit } from './sign-in-limit.ts'

const SIGN_IN = z.strictObject({ token: z.string().min(1).max(512) })

export interface SessionOptions {
  readonly access: Access
  readonly limit: SignInLimit
  readonly service: string
  readonly sessionMs: number
}

/** Sign in by link or token, who am I, sign out. */
export function addSessionRoutes(app: FastifyInstance, { access, limit, service, sessionMs }: SessionOptions): void {
  const setCookie = (request: FastifyRequest, reply: FastifyReply, cookie: { secret: string; ms: number }) => {
    // Behind a proxy that ends TLS. Whoever sends the header falsely hardens nobody's cookie but their own.
    const secure = request.headers['x-forwarded-proto'] === 'https' ? '; Secure' : ''
    const age = Math.floor(cookie.ms / 1_000)
    void reply.header(
      'set-cookie',
      `${SESSION_COOKIE}=${cookie.secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${age}${secure}`,
    )
  }

  const counted = async ({ ip }: FastifyRequest, session: SignedIn | undefined): Promise<SignedIn | undefined> => {
    if (session === undefined) await limit.wrong(ip)
    return session
  }

  // The link is followed from a terminal; it works once, so a change by GET is what is wanted.
  app.get<{ Querystring: { token?: unknown } }>(
    '/login',
    { config: { asks: 'public' }, exposeHeadRoute: false },
    async (request, reply) => {
      const link = textOf(request.query.token)
      const session = request.account === undefined ? await counted(request, access.followLink(link)) : undefined
      if (session !== undefined) setCookie(request, reply, { secret: session.secret, ms: sessionMs })
      const isIn = session !== undefined || request.account !== undefined
      return reply.redirect(isIn ? '/' : '/?link=used', 303)
    },
  )

  app.post('/api/session', { config: { asks: 'public' } }, async (request, reply): Promise<SessionAnswer> => {
    const { token } = readInput(SIGN_IN, request.body)
    const session = await counted(request, access.signIn(token))
    if (session === undefined) throw new CronceError('CRONCE_CONSOLE_SIGN_IN', { got: 'a token it does not' })
    setCookie(request, reply, { secret: session.secret, ms: sessionMs })
    return { ...session.account, service }
  })

  app.delete('/api/session', { config: { asks: 'public' } }, (request, reply) => {
    access.signOut(sessionOf(request) ?? '')
    setCookie(request, reply, { secret: '', ms: 0 })
    return reply.code(204).send()
  })

  app.get('/api/session', (request): SessionAnswer => {
    const { account } = request
    if (account === undefined) throw new CronceError('CRONCE_CONSOLE_SIGN_IN', { got: 'none' })
    return { ...account, service }
  })
}

/** A query may have the same name twice, which makes a list of it. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
