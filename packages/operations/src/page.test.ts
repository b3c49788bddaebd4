import { isCronceError } from '@cronce/core'
import { expect, it } from 'vitest'
import { pageLimit, readCursor, writeCursor } from './page.ts'

function refuses(act: () => unknown): boolean {
  try {
    act()
    return false
  } catch (error) {
    return isCronceError(error, 'CRONCE_INPUT_INVALID')
  }
}

it('reads back the cursors it wrote, names of any script included', () => {
  const place = { at: 1_772_953_200_000, source: 'run 日次/"x"', id: '20260308T070000Z' }
  expect(readCursor(writeCursor(place))).toEqual(place)
  expect(readCursor(undefined)).toBeUndefined()
})

it.each(['', '%', 'e30', 'bnVsbA', 'WzFd', 'WyIxIiwiYSIsImIiXQ', 'A'.repeat(20_000)])(
  'refuses %.20s as a cursor',
  (cursor) => {
    expect(refuses(() => readCursor(cursor))).toBe(true)
  },
)

it('refuses limits that are none', () => {
  for (const limit of [0, -1, 1.5, 1_001, Number.NaN, Number.POSITIVE_INFINITY])
    expect(refuses(() => pageLimit({ limit }))).toBe(true)
  expect([pageLimit({}), pageLimit({ limit: 1 }), pageLimit({ limit: 1_000 })]).toEqual([50, 1, 1_000])
})
