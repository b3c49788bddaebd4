import { writeSync } from 'node:fs'
import type { EventSource } from '@cronce/core'

/** Writes every event as one JSON line, at once: what was told before a SIGKILL has been told. */
export function writeEvents(events: EventSource): void {
  events.onAny((event, facts) => writeLine({ event, ...facts }))
}

export function writeLine(line: object): void {
  writeSync(1, `${JSON.stringify(line, (_, value: unknown) => (value instanceof Error ? String(value) : value))}\n`)
}
