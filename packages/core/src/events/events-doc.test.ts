import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

describe('the page of events', () => {
  it('has every event, and none that is not emitted', () => {
    const emitted = [...read('./event-map.ts').matchAll(/^ {2}'([a-z.-]+)':/gm)].map(([, name]) => name)
    const written = [...read('../../../../docs/events.md').matchAll(/^\| `([a-z.-]+)` \|/gm)].map(([, name]) => name)
    expect(written.toSorted()).toEqual(emitted.toSorted())
    expect(emitted.length).toBeGreaterThan(40)
  })
})
