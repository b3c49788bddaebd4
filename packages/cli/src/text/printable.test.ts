import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { printable, printableJson } from './printable.ts'

const ACTING = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u
const anyText = fc.string({ unit: 'binary' })

describe('printable', () => {
  it('leaves nothing that a terminal acts on, whatever the text', () => {
    fc.assert(fc.property(anyText, (text) => !ACTING.test(printable(text))))
  })

  it('leaves ordinary text of any script as it is', () => {
    expect(printable('日次 "report" – 100 %')).toBe('日次 "report" – 100 %')
  })
})

describe('printableJson', () => {
  it('is one line that parses to the same value, without anything a terminal acts on', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const json = printableJson({ text })
        expect(ACTING.test(json)).toBe(false)
        expect(JSON.parse(json)).toEqual({ text })
      }),
    )
  })

  it('escapes characters beyond the first plane as pairs', () => {
    expect(JSON.parse(printableJson('\u{e0001}x\u009b'))).toBe('\u{e0001}x\u009b')
    expect(printableJson('\u{e0001}')).toBe(String.raw`"\udb40\udc01"`)
  })
})
