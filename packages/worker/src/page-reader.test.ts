import { cron, defineJob } from '@cronce/core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { CursorPage, EntitySource } from './entity-source.ts'
import { handle } from './handler.ts'
import { PageReader } from './page-reader.ts'

const job = defineJob({
  name: 'pages',
  schedule: cron('0 2 * * *'),
  onCrash: 'complete',
  entity: { schema: z.object({ id: z.string(), text: z.string().optional() }), key: ({ id }) => id },
  chunk: { size: 3, concurrency: 1 },
})

const slot = { key: 'pages@20260825T020000Z' as never, job: 'pages', at: 0, effectiveAt: 0 }

function readerOf(entities: EntitySource): { reader: PageReader; asked: (string | undefined)[] } {
  const asked: (string | undefined)[] = []
  const reader = new PageReader(handle(job, { entities, each: () => undefined }), {
    inTime: async (call) => await call(),
    call: async (after) => {
      asked.push(after)
      return await entities({ after, limit: 3, slot, signal: new AbortController().signal })
    },
  })
  return { reader, asked }
}

async function readAll(reader: PageReader, from = ''): Promise<{ keys: string[][]; cursor: string }> {
  const keys: string[][] = []
  let cursor = from
  for (;;) {
    for (const part of await reader.read(cursor)) {
      if (part.members.length > 0) keys.push(part.members.map(({ key }) => key))
      cursor = part.next
      if (part.last) return { keys, cursor }
    }
  }
}

const ids = (...names: string[]) => names.map((id) => ({ id }))

describe('pages', () => {
  it('are read by the key of their last entity until one is empty, short ones too', async () => {
    const { reader, asked } = readerOf(({ after = '' }) =>
      ids('a', 'b', 'c', 'd')
        .filter(({ id }) => id > after)
        .slice(0, after === '' ? 1 : 3),
    )
    expect((await readAll(reader)).keys).toEqual([['a'], ['b', 'c', 'd']])
    expect(asked).toEqual([undefined, 'a', 'd'])
  })

  it('with a cursor of their own are read by it until it is null, empty ones too', async () => {
    const pages: Record<string, CursorPage> = {
      start: { entities: ids('z'), next: '7' },
      7: { entities: [], next: '8' },
      8: { entities: ids('a'), next: null },
    }
    const { reader, asked } = readerOf(({ after = 'start' }) => pages[after] ?? [])
    expect((await readAll(reader)).keys).toEqual([['z'], ['a']])
    expect(asked).toEqual([undefined, '7', '8'])
  })

  it('larger than a chunk come in several, each with its cursor', async () => {
    const { reader } = readerOf(({ after }) => (after === undefined ? ids('a', 'b', 'c', 'd', 'e') : []))
    const parts = await reader.read('')
    expect(parts.map(({ members, next }) => [members.length, next])).toEqual([
      [3, 'after:c'],
      [2, 'after:e'],
    ])
  })

  it('with much text come in several', async () => {
    const text = 'x'.repeat(250_000)
    const { reader } = readerOf(() => Array.from({ length: 3 }, (_, index) => ({ id: `${index}`, text })))
    expect((await reader.read('')).map(({ members }) => members.length)).toEqual([3])
  })

  it.each<[string, EntitySource, string]>([
    ['nothing', () => undefined as never, 'got nothing'],
    ['text', () => 'abc', 'got "abc"'],
    ['a page that stands still', ({ after }) => ids(after ?? 'a'), 'goes on beyond its cursor'],
    ['a page without any key', () => [{ id: 7 }], 'goes on beyond its cursor'],
    ['a large page with a cursor', () => ({ entities: ids('a', 'b', 'c', 'd'), next: 'x' }), 'at most 3 entities'],
    ['an empty cursor', () => ({ entities: ids('a'), next: '' }), 'next to be null or text'],
  ])('that are %s are refused', async (_, source, message) => {
    const { reader } = readerOf(source)
    await expect(readAll(reader)).rejects.toThrow(message)
  })
})

describe('an iterable', () => {
  it('is read in pages, from where the plan had come', async () => {
    const { reader, asked } = readerOf(async function* rows() {
      yield* ids('a', 'b', 'c', 'd')
    })
    expect(await readAll(reader)).toEqual({ keys: [['a', 'b', 'c'], ['d']], cursor: 'taken:4' })
    const resumed = readerOf(() => new Set(ids('a', 'b', 'c', 'd')))
    expect((await readAll(resumed.reader, 'taken:3')).keys).toEqual([['d']])
    expect([asked, resumed.asked]).toEqual([[undefined], [undefined]])
  })

  it('that has become shorter ends', async () => {
    const { reader } = readerOf(() => new Set(ids('a')))
    expect((await readAll(reader, 'taken:3')).keys).toEqual([])
  })

  it('does not go on from a page, nor a page from an iterable', async () => {
    await expect(readerOf(() => new Set(ids('a'))).reader.read('after:a')).rejects.toThrow('as the plan began with')
    await expect(readerOf(() => ids('a')).reader.read('taken:3')).rejects.toThrow('as the plan began with')
  })

  it('with much text comes in several pages, and a page that is resumed begins where the one before it ended', async () => {
    const large = { ...job, chunk: { size: 100, concurrency: 1 } }
    const text = 'x'.repeat(250_000)
    const open = () => Array.from({ length: 40 }, (_, index) => ({ id: `${index}`, text })).values()
    const readerAt = () =>
      new PageReader(handle(large, { entities: open, each: () => undefined }), {
        inTime: async (call) => await call(),
        call: async () => open(),
      })
    const reader = readerAt()
    const [first] = await reader.read('')
    expect(first?.next).toBe('taken:16')
    const [second] = await reader.read('taken:16')
    expect(second?.members.map(({ key }) => key)[0]).toBe('16')
    expect((await readAll(readerAt(), 'taken:32')).keys).toEqual([['32', '33', '34', '35', '36', '37', '38', '39']])
    const sizes = (await readAll(readerAt())).keys.map(({ length }) => length)
    expect(sizes).toEqual([16, 16, 8])
  })

  it('that fails is not gone on with: it would say that it is at its end', async () => {
    const { reader, asked } = readerOf(async function* rows() {
      yield* ids('a', 'b', 'c')
      throw new Error('connection lost')
    })
    expect((await reader.read('')).map(({ next }) => next)).toEqual(['taken:3'])
    await expect(reader.read('taken:3')).rejects.toThrow('connection lost')
    await expect(reader.read('taken:3')).rejects.toThrow('connection lost')
    expect(asked).toHaveLength(2)
    expect(reader.release()).toBeUndefined()
  })

  it('is let go when its step ends', async () => {
    let ended = 0
    const { reader } = readerOf(function* rows() {
      try {
        yield* ids('a', 'b', 'c', 'd', 'e')
      } finally {
        ended += 1
      }
    })
    await reader.read('')
    await reader.close()
    expect(ended).toBe(1)
  })
})
