import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { CronceError } from '@cronce/core'
import { errorAnswer } from './error-answer.ts'
import { SECURITY_HEADERS } from './security-headers.ts'

interface Refusal {
  readonly status: string
  readonly reason: string
}

/** By the codes of node: what came is no request, so that no route and no hook has seen it. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', reason: 'it did not arrive in time' },
  HPE_HEADER_OVERFLOW: { status: '431 Request Header Fields Too Large', reason: 'its headers are too large' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: '413 Content Too Large', reason: 'its chunk extensions are too large' },
}

const JSON_TYPE = 'application/json; charset=utf-8'

const MALFORMED: Refusal = { status: '400 Bad Request', reason: 'it is no HTTP request' }

/** Answers a request whose path no router can read. */
export function refuseRequest(error: Error, answer: ServerResponse): void {
  const { status, body } = errorAnswer(error, { redisAddress: '' })
  answer.writeHead(status, { ...SECURITY_HEADERS, 'content-type': JSON_TYPE })
  answer.end(JSON.stringify(body))
}

/** Answers what is no HTTP request, as every other error is answered, and ends the connection. */
export function refuseConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  // Gone already, or an answer is on its way: a second one would be taken for the next.
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy()
    return
  }
  const { status, reason } = REFUSALS[error.code ?? ''] ?? MALFORMED
  const refusal = new CronceError('CRONCE_CONSOLE_REQUEST', { reason })
  const text = JSON.stringify(errorAnswer(refusal, { redisAddress: '' }).body)
  const headers = {
    ...SECURITY_HEADERS,
    'content-type': JSON_TYPE,
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.end([`HTTP/1.1 ${status}`, ...lines, '', text].join('\r\n'))
}
