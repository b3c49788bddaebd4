import { readFileSync } from 'node:fs'
import { type CronOptions, cron, nextSlot } from '@cronce/core'
import { describe, expect, it } from 'vitest'

const lines = readFileSync(new URL('../../docs/schedules.md', import.meta.url), 'utf8').split('\n')

/** The rows of every table that has this header. */
function rowsUnder(header: string): readonly (readonly string[])[] {
  const rows: (readonly string[])[] = []
  for (const [index, line] of lines.entries()) {
    if (line !== header) continue
    for (let row = index + 2; lines[row]?.startsWith('|'); row += 1) {
      const cells = (lines[row] as string).split('|').slice(1, -1)
      rows.push(cells.map((cell) => cell.replaceAll('`', '').trim()))
    }
  }
  return rows
}

/** `missingTime: skip, seconds: true` */
function optionsOf(text: string): CronOptions {
  const pairs = text === '' ? [] : text.split(', ').map((pair) => pair.split(/: (.*)/).slice(0, 2))
  return Object.fromEntries(pairs.map(([name, value]) => [name, value === 'true' ? true : value])) as CronOptions
}

const examples = rowsUnder('| expression | zone | options | after | slots |')
const refusals = rowsUnder('| expression | options | refused with |')

describe('docs/schedules.md', () => {
  it('has the examples', () => {
    expect(examples.length).toBeGreaterThan(25)
    expect(refusals.length).toBeGreaterThan(20)
  })

  it.each(examples)(
    'is right about %s in %s (%s) after %s',
    (...[expression = '', zone = '', options = '', after = '', slots = '']) => {
      const schedule = cron(expression, { zone, ...optionsOf(options) })
      let at = Date.parse(after)
      for (const slot of slots.split(' ')) {
        at = nextSlot(schedule, at) as number
        expect(new Date(at).toISOString()).toBe(slot.replace('Z', '.000Z'))
      }
    },
  )

  it.each(refusals)('is right about the refusal of %s (%s) with %s', (expression = '', options = '', code = '') => {
    expect(() => cron(expression, optionsOf(options))).toThrowError(expect.objectContaining({ code }))
  })
})
