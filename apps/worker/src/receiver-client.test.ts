import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createReceiverClient, type ReceiverClient, ReceiverRefused } from './receiver-client.ts'

interface Call {
  readonly path: string | undefined
  readonly key: string | string[] | undefined
  readonly body: unknown
  readonly socket: IncomingMessage['socket']
}

let server: Server
let calls: Call[]
let status: number | 'silent'
let client: ReceiverClient

beforeEach(async () => {
  calls = []
  status = 201
  server = createServer((request, response) => {
    let text = ''
    request.on('data', (piece) => (text += String(piece)))
    request.on('end', () => {
      const { url, headers, socket } = request
      calls.push({ path: url, key: headers['idempotency-key'], body: JSON.parse(text), socket })
      if (status !== 'silent') response.writeHead(status).end('{}')
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  client = createReceiverClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
afterEach(async () => {
  client.close()
  server.closeAllConnections()
  await once(server.close(), 'close')
})

const effect = (signal = new AbortController().signal) => ({ key: 'k', slot: 's', entity: 'é', content: [1], signal })

describe('the client of the receiver', () => {
  it('sends an effect under its key, over one connection for many', async () => {
    await client.deliver(effect())
    await client.deliver(effect())
    expect(calls.map(({ path, key, body }) => ({ path, key, body }))).toEqual(
      Array.from({ length: 2 }, () => ({ path: '/effects', key: 'k', body: { slot: 's', entity: 'é', content: [1] } })),
    )
    expect(calls[0]?.socket).toBe(calls[1]?.socket)
  })

  it('tells a start without a key', async () => {
    await client.tellStart({ slot: 's', attempt: 2, signal: new AbortController().signal })
    expect(calls[0]).toMatchObject({ path: '/starts', key: undefined, body: { slot: 's', attempt: 2 } })
  })

  it('throws the status of an answer that is no success', async () => {
    status = 402
    const refusal: unknown = await client.deliver(effect()).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(ReceiverRefused)
    expect(refusal).toMatchObject({ status: 402, message: 'HTTP 402 from the receiver' })
  })

  it('takes a repeat for done', async () => {
    status = 200
    await expect(client.deliver(effect())).resolves.toBeUndefined()
  })

  it('gives up when its attempt is over', async () => {
    status = 'silent'
    const abort = new AbortController()
    const delivery = client.deliver(effect(abort.signal))
    server.once('request', () => setImmediate(() => abort.abort()))
    await expect(delivery).rejects.toThrow(/abort/i)
  })
})
