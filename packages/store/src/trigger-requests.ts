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
  return await setOnce(store, `${baseOf(store)}:mark:${mark}`, { value: owner, keepMs })
}

/** Begins a request under a key, or answers the one that was begun under it before. */
export async function beginRequest(
  store: Store,
  key: string,
  { request, keepMs }: { request: AnsweredRequest; keepMs: number },
): Promise<AnsweredRequest> {
  const value = JSON.stringify(request)
  const held = await setOnce(store, `${baseOf(store)}:request:${key}`, { value, keepMs })
  return held === value ? request : (parseStored(held) as AnsweredRequest)
}

export async function readRequest(store: Store, key: string): Promise<AnsweredRequest | undefined> {
  const text = await store.redis.get(`${baseOf(store)}:request:${key}`)
  return text === null ? undefined : (parseStored(text) as AnsweredRequest)
}

/** Keeps the answer of a request, for whoever asks again. */
export async function answerRequest(store: Store, key: string, request: AnsweredRequest): Promise<void> {
  await store.redis.set(`${baseOf(store)}:request:${key}`, JSON.stringify(request), 'KEEPTTL')
}

/** Sets a value where there is none, and answers the one that is there. Redis 6.2 has no one command for both. */
async function setOnce(
  store: Store,
  key: string,
  { value, keepMs }: { value: string; keepMs: number },
): Promise<string> {
  for (;;) {
    if ((await store.redis.set(key, value, 'PX', keepMs, 'NX')) === 'OK') return value
    const held = await store.redis.get(key)
    // It expired between the two.
    if (held !== null) return held
  }
}

function baseOf({ service }: Store): string {
  return `${serviceKey(service)}:trigger`
}
