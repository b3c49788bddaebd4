import { serviceKey } from './keys.ts'
import { parseStored } from './reply.ts'
import type { Store } from './store.ts'

/** A request from outside that is to be answered once, by its key. */
export interface AnsweredRequest {
  /** What it asked for: another request under the same key is another request. */
  readonly digest: string
  /** The slot that it is about, chosen when it came first. */
  readonly slot: string
  /** The answer; undefined while it is being made, or where its process died. */
  readonly answer?: unknown
}

/** Takes a mark for somebody, until it expires. Answers whose it is: this call's, or of whoever was first. */
export async function takeMark(
  store: Store,
  mark: string,
  { owner, keepMs }: { owner: string; keepMs: number },
): Promise<string> {
  return (await store.redis.set(`${baseOf(store)}:mark:${mark}`, owner, 'PX', keepMs, 'NX', 'GET')) ?? owner
}

/** Begins a request under a key, or answers the one that was begun under it before. */
export async function beginRequest(
  store: Store,
  key: string,
  { request, keepMs }: { request: AnsweredRequest; keepMs: number },
): Promise<AnsweredRequest> {
  const name = `${baseOf(store)}:request:${key}`
  // The value before it, where there is one: one command, so that two that come together see one request.
  const before = await store.redis.set(name, JSON.stringify(request), 'PX', keepMs, 'NX', 'GET')
  return before === null ? request : (parseStored(before) as AnsweredRequest)
}

export async function readRequest(store: Store, key: string): Promise<AnsweredRequest | undefined> {
  const text = await store.redis.get(`${baseOf(store)}:request:${key}`)
  return text === null ? undefined : (parseStored(text) as AnsweredRequest)
}

/** Keeps the answer of a request, for whoever asks again. */
export async function answerRequest(store: Store, key: string, request: AnsweredRequest): Promise<void> {
  await store.redis.set(`${baseOf(store)}:request:${key}`, JSON.stringify(request), 'KEEPTTL')
}

function baseOf({ service }: Store): string {
  return `${serviceKey(service)}:trigger`
}
