import { readFileSync } from 'node:fs'
import { ALARM_KINDS } from '@cronce/core'
import { describe, expect, it } from 'vitest'
import { DELIVERY_PAUSES_MS } from './deliver-letters.ts'
import { DELIVERY_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER } from './webhook-signature.ts'

const PAGE = readFileSync(new URL('../../../docs/alarms.md', import.meta.url), 'utf8')

describe('docs/alarms.md', () => {
  it('has every kind of alarm with its meaning, and no other', () => {
    const rows = [...PAGE.matchAll(/^\| `([\w-]+)` \| (.+) \|$/gm)].map(([, kind, text]) => [kind, text])
    expect(rows).toEqual(Object.entries(ALARM_KINDS))
  })

  it('names the headers as they are sent, and as many pauses as there are', () => {
    for (const header of [TIMESTAMP_HEADER, SIGNATURE_HEADER, DELIVERY_HEADER]) expect(PAGE).toContain(`\n${header}: `)
    const [, pauses = ''] = /tried again after (.+?), by\s/s.exec(PAGE) ?? []
    expect(pauses.split(/, | and /)).toHaveLength(DELIVERY_PAUSES_MS.length)
  })
})
