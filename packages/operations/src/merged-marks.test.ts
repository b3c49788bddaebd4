import type { MarkQuery, TimeMark } from '@cronce/store'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type MarkSource, mergeMarks, readPage } from './merged-marks.ts'
import { comparePlaces, type Place, readCursor } from './page.ts'

/** A list as Redis pages it: by instant backwards, then by id backwards. */
function source(name: string, marks: TimeMark[]): MarkSource {
  return {
    name,
    marks: async ({ untilAt = Number.POSITIVE_INFINITY, offset = 0, limit }: MarkQuery) =>
      sorted(marks.filter(({ at }) => at <= untilAt)).slice(offset, offset + limit),
  }
}

function sorted(marks: readonly TimeMark[]): TimeMark[] {
  return marks.toSorted((a, b) => b.at - a.at || (a.id > b.id ? -1 : 1))
}

const lists = fc.array(
  fc.uniqueArray(
    fc.record({ at: fc.integer({ min: 0, max: 12 }), id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h') }),
    {
      selector: ({ at, id }) => `${at} ${id}`,
      maxLength: 30,
    },
  ),
  { maxLength: 6 },
)

function sourcesOf(marks: readonly TimeMark[][]): MarkSource[] {
  return marks.map((list, index) => source(`s${index}`, list))
}

function allOf(marks: readonly TimeMark[][]): Place[] {
  return marks.flatMap((list, index) => list.map((mark) => ({ ...mark, source: `s${index}` }))).toSorted(comparePlaces)
}

async function readAll(sources: readonly MarkSource[], limit: number, keeps: (place: Place) => boolean = () => true) {
  const pages: Place[][] = []
  let cursor: string | undefined
  do {
    const places = mergeMarks(sources, { after: readCursor(cursor), expected: limit })
    const read = async (batch: readonly Place[]) => batch.map((place) => (keeps(place) ? place : undefined))
    const page = await readPage(places, { limit, read })
    pages.push([...page.rows])
    cursor = page.next
  } while (cursor !== undefined && pages.length < 500)
  return pages
}

describe('pages over several lists', () => {
  it('have every row once, in order, whatever the lists and the length of a page', async () => {
    await fc.assert(
      fc.asyncProperty(lists, fc.integer({ min: 1, max: 9 }), async (marks, limit) => {
        const pages = await readAll(sourcesOf(marks), limit)
        expect(pages.flat()).toEqual(allOf(marks))
        for (const page of pages.slice(0, -1)) expect(page.length).toBe(limit)
      }),
    )
  })

  it('have every row that a filter keeps, and no other', async () => {
    await fc.assert(
      fc.asyncProperty(lists, fc.integer({ min: 1, max: 5 }), async (marks, limit) => {
        const keeps = ({ id }: Place) => id > 'd'
        expect((await readAll(sourcesOf(marks), limit, keeps)).flat()).toEqual(allOf(marks).filter(keeps))
      }),
    )
  })

  it('stay right while newer rows are added and others go', async () => {
    const marks = ['a', 'b', 'c', 'd', 'e', 'f'].map((id, index) => ({ at: index, id }))
    const first = await readPage(mergeMarks([source('s', marks)], { after: undefined, expected: 2 }), {
      limit: 2,
      read: async (batch) => batch,
    })
    const changed = [...marks.filter(({ id }) => id !== 'e'), { at: 99, id: 'new' }]
    const after = readCursor(first.next)
    const rest = await readPage(mergeMarks([source('s', changed)], { after, expected: 9 }), {
      limit: 9,
      read: async (batch) => batch,
    })
    expect([...first.rows, ...rest.rows].map(({ id }) => id)).toEqual(['f', 'e', 'd', 'c', 'b', 'a'])
  })
})
