import { createHash } from 'node:crypto'
import type { Clock } from '@cronce/core'
import Fastify from 'fastify'
import type { EffectLine } from './effect-line.ts'
import type { EffectLog } from './effect-log.ts'
import type { FaultPlan } from './fault-plan.ts'

export interface ReceiverOptions {
  readonly log: EffectLog
  readonly faults: FaultPlan
  readonly clock: Clock
}

/** Calls so far, for the view; the count that is judged is made from the log. */
export type CallCounts = Record<EffectLine['kind'], number>

export interface Receiver {
  readonly url: string
  readonly counts: Readonly<CallCounts>
  /** From here on nothing is failed on purpose. */
  relent(): void
  close(): Promise<void>
}

interface EffectBody {
  readonly slot: string
  readonly entity: string
}

/**
 * The outside world of the demo: an HTTP API that is idempotent as good ones are. `POST /effects` with an
 * `idempotency-key` happens once (201), is answered as a repeat after that (200), and is refused where the same key comes
 * with another body (422). `POST /starts` takes anything, any number of times.
 */
export async function startReceiver({ log, faults, clock }: ReceiverOptions): Promise<Receiver> {
  const hashes = new Map<string, string>()
  const failures = new Map<string, number>()
  let planned = faults
  const counts: CallCounts = { accepted: 0, repeat: 0, conflict: 0, refused: 0, start: 0 }

  function judge(key: string, entity: string, bodyHash: string): Pick<EffectLine, 'kind' | 'status'> {
    const known = hashes.get(key)
    if (known !== undefined)
      return known === bodyHash ? { kind: 'repeat', status: 200 } : { kind: 'conflict', status: 422 }
    const fault = planned.get(entity)
    const failed = failures.get(key) ?? 0
    if (fault !== undefined && failed < fault.calls) {
      failures.set(key, failed + 1)
      return { kind: 'refused', status: fault.status }
    }
    hashes.set(key, bodyHash)
    return { kind: 'accepted', status: 201 }
  }

  function keep(line: EffectLine): void {
    counts[line.kind] += 1
    log.append(line)
  }

  const app = Fastify({ logger: false, forceCloseConnections: true })
  app.post<{ Body: EffectBody }>('/effects', (request, reply) => {
    const key = request.headers['idempotency-key']
    if (typeof key !== 'string' || key === '')
      return reply.code(400).send({ error: 'expected the header idempotency-key' })
    const { slot, entity } = request.body
    const bodyHash = createHash('sha1').update(JSON.stringify(request.body)).digest('base64url')
    const { kind, status } = judge(key, entity, bodyHash)
    keep({ kind, at: clock.now(), slot, entity, key, bodyHash, status })
    return reply.code(status).send({ kind })
  })
  app.post<{ Body: { slot: string } }>('/starts', (request, reply) => {
    keep({ kind: 'start', at: clock.now(), slot: request.body.slot, entity: '', key: '', bodyHash: '', status: 201 })
    return reply.code(201).send({ kind: 'start' })
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return { url, counts, relent: () => void (planned = new Map()), close: () => app.close() }
}
