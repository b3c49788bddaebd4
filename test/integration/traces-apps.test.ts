import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { buildPage, startConsoleProcess, TOKENS } from '../browser/console-process.ts'
import {
  describeNeeding,
  freePort,
  type RedisServer,
  type SpawnedProcess,
  spawnProcess,
  startRedis,
  waitUntil,
} from '../support/index.ts'
import { type ScriptedReceiver, startReceiver } from '../support/scripted-receiver.ts'

/** What is read of a post of spans, in the JSON of OTLP. */
interface Post {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] }
    readonly scopeSpans: readonly {
      readonly spans: readonly { name: string; traceId: string; attributes: readonly Attribute[] }[]
    }[]
  }[]
}

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string }
}

const valueOf = (attributes: readonly Attribute[], key: string) =>
  attributes.find((attribute) => attribute.key === key)?.value.stringValue

describeNeeding(['redis-server'], 'the traces of the apps', () => {
  let redis: RedisServer
  let collector: ScriptedReceiver
  let receiver: ScriptedReceiver
  let processes: SpawnedProcess[] = []

  beforeAll(async () => {
    redis = await startRedis()
    collector = await startReceiver()
    receiver = await startReceiver()
  })
  afterEach(async () => {
    await Promise.all(processes.map((process) => process.kill()))
    processes = []
  })
  afterAll(async () => {
    await Promise.all([collector.close(), receiver.close()])
    await redis.stop()
  })

  async function start(app: 'service' | 'worker', env: Record<string, string>): Promise<SpawnedProcess> {
    const process = await spawnProcess({
      file: `apps/${app}/src/main.ts`,
      env: { REDIS_URL: redis.url, ...(app === 'worker' ? { CRONCE_RECEIVER_URL: receiver.url } : {}), ...env },
    })
    processes.push(process)
    return process
  }

  const posted = () =>
    collector.received.flatMap(({ body }) =>
      (JSON.parse(body) as Post).resourceSpans.flatMap(({ resource, scopeSpans }) =>
        scopeSpans.flatMap(({ spans }) =>
          spans.map((span) => ({ ...span, by: valueOf(resource.attributes, 'service.instance.id') })),
        ),
      ),
    )

  it('are posted where CRONCE_OTLP_URL says, and one goes from a replica through a worker', async () => {
    const env = { CRONCE_OTLP_URL: new URL('/v1/traces', collector.url).href, CRONCE_RELEASE: 'v7' }
    await Promise.all([
      start('service', { ...env, CRONCE_REPLICA_ID: 'replica-1' }),
      start('worker', { ...env, CRONCE_WORKER_ID: 'worker-1' }),
    ])
    const whole = await waitUntil(
      () => {
        const spans = posted()
        const traceId = spans.find(({ name, by }) => name === 'process default' && by === 'worker-1')?.traceId
        const mine = spans.filter((span) => span.traceId === traceId)
        return mine.length >= 3 && mine.some(({ by }) => by === 'replica-1') ? mine : undefined
      },
      { message: 'a trace of two processes', timeoutMs: 30_000 },
    )
    const claims = whole.filter(({ name }) => name === 'claim default')
    expect(claims.map(({ by, attributes }) => [by, valueOf(attributes, 'cronce.job')])).toEqual([
      ['replica-1', 'cache-refresh'],
    ])
    const slot = valueOf(claims[0]?.attributes ?? [], 'cronce.slot')
    const tasks = whole
      .filter(({ name }) => name === 'process default')
      .map(({ attributes }) => valueOf(attributes, 'bullmq.job.id'))
    expect(tasks.toSorted()).toEqual([slot, `${slot}/chunk-0`])
    expect(collector.received.every(({ path }) => path === '/v1/traces')).toBe(true)
    // Who looks at the run is led to its trace.
    await buildPage()
    const opened = await startConsoleProcess({
      redis,
      service: 'cronce',
      env: { CRONCE_CONSOLE_TRACE_URL: 'https://traces.example/t/{trace}?view=all' },
    })
    processes.push(opened.process)
    const answer = await fetch(`${opened.url}/api/runs/${encodeURIComponent(slot ?? '')}`, {
      headers: { authorization: `Bearer ${TOKENS.viewer}` },
    })
    const id = claims[0]?.traceId
    expect(await answer.json()).toMatchObject({ trace: { id, url: `https://traces.example/t/${id}?view=all` } })
  })

  it('hold up no stop, and no slot, while their collector is away', async () => {
    const process = await start('service', { CRONCE_OTLP_URL: `http://127.0.0.1:${await freePort()}/v1/traces` })
    await process.waitForLine(({ json }) => json?.['event'] === 'slot.enqueued', { timeoutMs: 30_000 })
    expect(await process.kill('SIGTERM')).toEqual({ code: 0, signal: null })
    expect(process.lines.filter(({ stream }) => stream === 'err')).toEqual([])
    expect(process.lines.some(({ text }) => text.includes('traces were not posted'))).toBe(true)
  })
})
