import { createHash, randomBytes } from 'node:crypto'
import { type Clock, CronceError, isCronceError } from '@cronce/core'
import { latestDueSlot, type ServiceAccess, type TriggerSlotResult, triggerSlot } from '@cronce/operations'
import { type AnsweredRequest, answerRequest, beginRequest, readRequest, takeMark } from '@cronce/store'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { z } from 'zod'
import { readInput } from './input.ts'
import type { SignInLimit } from './sign-in-limit.ts'
import { createSignatureCheck, SIGNATURE_KEPT_MS, type SignedRequest } from './trigger-signature.ts'
import type { TriggerSecrets } from './trigger-text.ts'

export interface TriggerOptions {
  readonly target: ServiceAccess
  readonly secrets: TriggerSecrets
  readonly limit: SignInLimit
  readonly clock: Clock
}

/** Requests of one job within a minute, by this console. */
export const MOST_REQUESTS = 60

/** How long a key answers as it did the first time. */
const KEY_KEPT_MS = 24 * 3_600_000

const KEY_HEADER = 'idempotency-key'
const BODY = z.strictObject({ note: z.string().trim().min(1).max(1_000).optional() })

interface OfJob {
  Params: { job: string; slot?: string }
}

/** What was asked for, by somebody who has a secret of the job. */
interface Asked extends SignedRequest {
  readonly job: string
  /** Undefined: the one that came due last. */
  readonly slot: string | undefined
  readonly note: string | undefined
  /** Of the header; undefined: none was sent. */
  readonly key: string | undefined
}

/**
 * `POST /trigger/:job` and `POST /trigger/:job/:slot`, for schedulers elsewhere: signed, once per slot. Not there without secrets.
 */
export function addTriggerRoutes(app: FastifyInstance, options: TriggerOptions): void {
  const { target, secrets, limit, clock } = options
  if (secrets.size === 0) return
  const check = createSignatureCheck({ secrets, clock })
  const requests = new RateLimiterMemory({ points: MOST_REQUESTS, duration: 60 })

  const trigger = async (request: FastifyRequest<OfJob>, reply: FastifyReply) => {
    const { job, slot } = request.params
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
    const signed = await checked(request, () => check(request, { job, body }))
    await count(job)
    const { note } = readInput(BODY, parseBody(body))
    const { outcome, ...answer } = await answerOnce({ ...signed, job, slot, note, key: keyOf(request) })
    return await reply.code(outcome === 'accepted' ? 202 : 200).send({ ...answer, outcome })
  }

  void app.register(async (scope) => {
    // The signature is of the bytes as they came.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body))
    const config = { asks: 'signature' } as const
    scope.post<OfJob>('/trigger/:job', { config }, trigger)
    scope.post<OfJob>('/trigger/:job/:slot', { config }, trigger)
  })

  async function checked(request: FastifyRequest, verify: () => SignedRequest): Promise<SignedRequest> {
    try {
      return verify()
    } catch (error) {
      await limit.wrong(request.ip)
      throw error
    }
  }

  async function count(job: string): Promise<void> {
    try {
      await requests.consume(job)
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error
      throw new CronceError('CRONCE_CONSOLE_WAIT', { seconds: Math.max(1, Math.ceil(error.msBeforeNext / 1_000)) })
    }
  }

  /** The same key is the same request, and has the same answer; without one a signature is taken once. */
  async function answerOnce(asked: Asked): Promise<TriggerSlotResult> {
    const { key, digest, mark } = asked
    // A key is not signed: under another one a signature is as used as without.
    const owner = key ?? randomBytes(16).toString('base64url')
    if ((await takeMark(target.store, mark, { owner, keepMs: SIGNATURE_KEPT_MS })) !== owner) {
      throw new CronceError('CRONCE_TRIGGER_REPEATED', { reason: 'this signature was used' })
    }
    const known = key === undefined ? undefined : await readRequest(target.store, key)
    const slot = known?.slot ?? asked.slot ?? (await ofJob(asked.job, () => latestDueSlot(target, asked.job)))
    if (key === undefined) return await run(asked, slot)
    // The slot is chosen once: where a process dies here, whoever tries again means the same one.
    const request = known ?? (await beginRequest(target.store, key, { request: { digest, slot }, keepMs: KEY_KEPT_MS }))
    if (request.digest !== digest) {
      throw new CronceError('CRONCE_TRIGGER_REPEATED', { reason: `this ${KEY_HEADER} was used for another request` })
    }
    return isAnswer(request) ? request.answer : await runAndKeep(asked, { key, request })
  }

  async function runAndKeep(
    asked: Asked,
    { key, request }: { key: string; request: AnsweredRequest },
  ): Promise<TriggerSlotResult> {
    const answer = await run(asked, request.slot)
    await answerRequest(target.store, key, { ...request, answer })
    return answer
  }

  async function run({ job, note }: Asked, slot: string): Promise<TriggerSlotResult> {
    const operator = { name: 'signed trigger', way: 'trigger', role: 'operator' } as const
    return await ofJob(job, () => triggerSlot(target, { job, slot, operator, why: note, release: 'console' }))
  }
}

/** Names no other job: the secret is of this one alone. */
async function ofJob<T>(job: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (!isCronceError(error, 'CRONCE_JOB_UNKNOWN')) throw error
    throw new CronceError('CRONCE_JOB_UNKNOWN', { owner: 'the service', name: job, suggestion: '' })
  }
}

function isAnswer(request: AnsweredRequest): request is AnsweredRequest & { readonly answer: TriggerSlotResult } {
  return request.answer !== undefined
}

/** The key, of this job: the same text may be another job's key. */
function keyOf({ headers, params }: FastifyRequest<OfJob>): string | undefined {
  const key = headers[KEY_HEADER]
  if (key === undefined) return undefined
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    const message = `expected ${KEY_HEADER} to be 1 to 255 visible ASCII characters`
    throw new CronceError('CRONCE_INPUT_INVALID', { count: 1, summary: message })
  }
  return createHash('sha256').update(`${params.job}\n${key}`).digest('base64url')
}

function parseBody(body: Buffer): unknown {
  if (body.length === 0) return {}
  try {
    return JSON.parse(body.toString()) as unknown
  } catch {
    throw new CronceError('CRONCE_CONSOLE_REQUEST', { reason: 'expected a JSON body or none, got something else' })
  }
}
