import type { Reply } from './reply.ts'

/** A list in an answer, with its length before it. */
export function counted<Item>(reply: Reply, read: (reply: Reply) => Item): Item[] {
  return Array.from({ length: reply.number() }, () => read(reply))
}

/** A stored row that is no JSON is a bad row, not a reason to stop. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
