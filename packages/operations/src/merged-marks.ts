import type { MarkQuery, TimeMark } from '@cronce/store'
import { comparePlaces, type Page, type Place, writeCursor } from './page.ts'

/** One list that runs back in time: the slots of a job, its gaps, its dead letters. */
export interface MarkSource {
  /** Unique among the merged, and stable: it is part of cursors. */
  readonly name: string
  readonly marks: (query: MarkQuery) => Promise<readonly TimeMark[]>
}

/** Rows looked at for one page, where a filter drops most of them; the page then ends early, with a cursor. */
const MOST_SCANNED = 5_000

/** Reads one source backwards from a place on. What it has read may be taken away meanwhile: it goes on from there all the same. */
class SourceReader {
  readonly #source: MarkSource
  #buffer: Place[] = []
  /** The oldest that was read, or the place to begin after. */
  #last: Place | undefined
  #ended = false

  constructor(source: MarkSource, after: Place | undefined) {
    this.#source = source
    this.#last = after
  }

  /** The next place, or undefined at the end. `batch`: how many to read ahead. */
  async peek(batch: number): Promise<Place | undefined> {
    if (this.#buffer.length === 0 && !this.#ended) await this.#fill(batch)
    return this.#buffer[0]
  }

  take(): void {
    this.#buffer.shift()
  }

  async #fill(batch: number): Promise<void> {
    const last = this.#last
    const untilAt = last === undefined ? {} : { untilAt: last.at }
    // From the last instant's first on, and past what was read of it: an offset kept from before would skip what moved up.
    for (let offset = 0; !this.#ended && this.#buffer.length === 0; offset += batch) {
      const marks = await this.#source.marks({ ...untilAt, offset, limit: batch })
      this.#ended = marks.length < batch
      const places = marks.map(({ at, id }) => ({ at, id, source: this.#source.name }))
      this.#buffer = places.filter((place) => last === undefined || comparePlaces(place, last) > 0)
    }
    this.#last = this.#buffer.at(-1) ?? last
  }
}

/** The places of all sources after one place, in the order of {@link comparePlaces}. Reads no more of a source than it needs. */
export async function* mergeMarks(
  sources: readonly MarkSource[],
  { after, expected }: { after: Place | undefined; expected: number },
): AsyncGenerator<Place, void, undefined> {
  const batch = Math.min(expected + 1, Math.ceil(expected / Math.max(1, sources.length)) + 1)
  const all = sources.map((source) => new SourceReader(source, after))
  const heads = await Promise.all(all.map((reader) => reader.peek(batch)))
  const open = all.flatMap((reader, index) => {
    const head = heads[index]
    return head === undefined ? [] : [{ reader, head }]
  })
  open.sort((a, b) => comparePlaces(a.head, b.head))
  for (let first = open.shift(); first !== undefined; first = open.shift()) {
    yield first.head
    first.reader.take()
    const head = await first.reader.peek(batch)
    if (head === undefined) continue
    const position = firstAfter(open, head)
    open.splice(position, 0, { reader: first.reader, head })
  }
}

function firstAfter(open: readonly { readonly head: Place }[], place: Place): number {
  let low = 0
  let high = open.length
  while (low < high) {
    const middle = (low + high) >> 1
    const head = open[middle]?.head
    if (head !== undefined && comparePlaces(head, place) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Reads the rows of a page: `read` answers undefined for places that a filter drops or that are gone. */
export async function readPage<Row>(
  places: AsyncGenerator<Place, void, undefined>,
  options: {
    limit: number
    read: (places: readonly Place[]) => Promise<readonly (Row | undefined)[]>
    /** How many to read at least, where most are dropped. Default: as many as the page still wants. */
    atOnce?: number
  },
): Promise<Page<Row>> {
  const { limit, read, atOnce = 1 } = options
  const rows: Row[] = []
  for (let scanned = 0; ; ) {
    const batch = await takeFrom(places, Math.max(atOnce, limit - rows.length))
    const found = await read(batch)
    for (const [index, place] of batch.entries()) {
      const row = found[index]
      if (row !== undefined) rows.push(row)
      scanned += 1
      if (rows.length < limit && scanned < MOST_SCANNED) continue
      const isMore = index + 1 < batch.length || (await takeFrom(places, 1)).length > 0
      return { rows, next: isMore ? writeCursor(place) : undefined }
    }
    if (batch.length === 0) return { rows, next: undefined }
  }
}

/** The next places, without ending the generator as `for await` would. */
export async function takeFrom(places: AsyncGenerator<Place, void, undefined>, count: number): Promise<Place[]> {
  const taken: Place[] = []
  while (taken.length < count) {
    const { value, done } = await places.next()
    if (done === true) break
    if (value !== undefined) taken.push(value)
  }
  return taken
}
