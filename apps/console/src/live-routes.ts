import { type Clock, CronceError } from '@cronce/core'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Access } from './access.ts'
import type { ChangeFeed } from './change-feed.ts'
import { sessionOf } from './guard.ts'
import type { ChangeAnswer } from './job-answers.ts'

/** Streams at once; a page has one, while it is looked at. */
export const MOST_STREAMS = 200

/** Well within the time after which a silent connection is cut, here and by proxies. */
const HEARTBEAT_MS = 10_000

/** How long a page waits before it opens a stream that broke again, ms. */
const RETRY_MS = 2_000

/** Bytes that a client may leave unread: it reads nothing any more. */
const MOST_UNREAD = 64 * 1024

export interface LiveOptions {
  readonly feed: ChangeFeed
  readonly clock: Clock
  readonly access: Pick<Access, 'ofSession'>
}

/** `GET /api/live`: says what changed, as server-sent events, until either side goes. */
export function addLiveRoutes(app: FastifyInstance, { feed, clock, access }: LiveOptions): void {
  const streams = new Set<() => void>()

  app.get('/api/live', { exposeHeadRoute: false }, (request, reply) => {
    if (streams.size >= MOST_STREAMS) throw new CronceError('CRONCE_CONSOLE_BUSY', { streams: MOST_STREAMS })
    const { raw } = reply
    openStream(reply)
    const end = (): void => {
      if (!streams.delete(end)) return
      stopListening()
      cancelBeat()
      raw.end()
    }
    const send = (text: string): void => {
      if (raw.writableLength > MOST_UNREAD) raw.destroy()
      else raw.write(text)
    }
    let cancelBeat = clock.after(HEARTBEAT_MS, beat)
    function beat(): void {
      // A sign-in that has ended takes its streams with it.
      if (!isSignedIn(access, request)) return end()
      send(': alive\n\n')
      cancelBeat = clock.after(HEARTBEAT_MS, beat)
    }
    const stopListening = feed.listen((change: ChangeAnswer) =>
      send(`event: change\ndata: ${JSON.stringify(change)}\n\n`),
    )
    streams.add(end)
    raw.on('close', end)
    raw.on('error', end)
    send(`retry: ${RETRY_MS}\nevent: open\ndata: {}\n\n`)
  })

  // Changes that went through here are told at once.
  app.addHook('onResponse', async (request, { statusCode }) => {
    if (statusCode < 300 && isChange(request)) feed.tell()
  })
  app.addHook('preClose', async () => {
    for (const end of streams) end()
  })
}

/** Every page reads everything that it shows when it is told: whoever is not signed in cannot make them, nor does signing in and out. */
function isChange({ method, account, routeOptions: { config, url } }: FastifyRequest): boolean {
  if (method === 'GET' || method === 'HEAD' || account === undefined || config.asks !== undefined) return false
  return url?.endsWith('/preview') !== true
}

/** Whether the session that opened a stream goes on; what else lets somebody in is good as long as the process. */
function isSignedIn(access: Pick<Access, 'ofSession'>, request: FastifyRequest): boolean {
  return request.signedInBy !== 'session' || access.ofSession(sessionOf(request) ?? '') !== undefined
}

function openStream(reply: FastifyReply): void {
  const headers = {
    ...reply.getHeaders(),
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no',
  }
  reply.hijack()
  reply.raw.writeHead(200, headers as Record<string, string>)
}
