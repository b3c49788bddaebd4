import type { ScriptAnswer } from './store.ts'

/** Reads a script's flat answer from front to back. */
export interface Reply {
  text(): string
  number(): number
  /** What is left, as a record of field and value. */
  fields(): Readonly<Record<string, string>>
  /** Whether anything is left. */
  more(): boolean
}

export function readReply(answer: ScriptAnswer): Reply {
  let position = 0
  const next = () => answer[position++] ?? ''
  return {
    text: () => String(next()),
    number: () => Number(next()),
    more: () => position < answer.length,
    fields() {
      const fields: Record<string, string> = {}
      while (position + 1 < answer.length) fields[String(next())] = String(next())
      return fields
    },
  }
}

/** JSON as stored. A row that is none is a bad row, reported by its reader, and no reason to stop. */
export function parseStored(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
