import type { ErrorAnswer } from '../src/answers.ts'

/** An answer that was no success. `status` 0: the console did not answer at all. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest'
  readonly status: number
  readonly code: string

  constructor(status: number, { code, message }: { code: string; message: string }) {
    super(message)
    this.status = status
    this.code = code
  }
}

export async function read<T>(path: string, signal?: AbortSignal): Promise<T> {
  return await ask<T>(path, signal === undefined ? {} : { signal })
}

/** Sends a change; the header tells the server that no page of another host sent it. */
export async function change<T>(method: 'POST' | 'DELETE', path: string, body?: object): Promise<T> {
  const headers: Record<string, string> = { 'x-cronce-console': '1' }
  if (body !== undefined) headers['content-type'] = 'application/json'
  return await ask<T>(path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
}

async function ask<T>(path: string, init: RequestInit): Promise<T> {
  let answer: Response
  try {
    answer = await fetch(path, { credentials: 'same-origin', ...init })
  } catch (error) {
    if (init.signal?.aborted === true) throw error
    throw new RefusedRequest(0, { code: 'AWAY', message: 'the console does not answer' })
  }
  if (answer.status === 204) return undefined as T
  const body = (await answer.json().catch(() => undefined)) as T | ErrorAnswer | undefined
  if (answer.ok && body !== undefined) return body as T
  const error = (body as ErrorAnswer | undefined)?.error
  throw new RefusedRequest(answer.status, error ?? { code: 'UNREADABLE', message: `HTTP ${answer.status}` })
}

/** A path with an id or key in it, whatever characters that has. */
export function pathOf(...parts: readonly string[]): string {
  return `/${parts.map(segmentOf).join('/')}`
}

/** No escape keeps a browser from walking along `.` and `..`, which would ask for something else: they become what is not found. */
function segmentOf(part: string): string {
  return /^\.{1,2}$/.test(part) ? part.replaceAll('.', '%252e') : encodeURIComponent(part)
}

/** A query of what is set. */
export function query(values: Readonly<Record<string, string | undefined>>): string {
  const set = Object.entries(values).filter((pair): pair is [string, string] => (pair[1] ?? '') !== '')
  return set.length === 0 ? '' : `?${new URLSearchParams(set).toString()}`
}

/** An id that nobody else has; `randomUUID` is absent where the page came without TLS. */
export function freshId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
