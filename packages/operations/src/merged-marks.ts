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

/** Reads one source backwards from a place on. */
class SourceReader {
  readonly #source: MarkSource
  #buffer: Place[] = []
  #last: Place | undefined
  #untilAt: number | undefined
  #offset = 0
  #ended = false

  constructor(source: MarkSource, after: Place | undefined) {
    this.#source = source
    this.#last = after
    this.#untilAt = after?.at
  }

  /** The next place, or undefined at the end. `batch`: how many to read ahead. */
  async peek(batch: number): Promise<Place | undefined> {
    while (this.#buffer.length === 0 && !this.#ended) await this.#fill(batch)
    return this.#buffer[0]
  }

  take(): void {
    this.#last = this.#buffer.shift() ?? this.#last
  }

  async #fill(batch: number): Promise<void> {
    const untilAt = this.#untilAt === undefined ? {} : { untilAt: this.#untilAt }
    const marks = await this.#source.marks({ ...untilAt, offset: this.#offset, limit: batch })
    this.#ended = marks.length < batch
    const oldest = marks.at(-1)
    if (oldest === undefined) return
    const ofOldest = marks.filter(({ at }) => at === oldest.at).length
    this.#offset = oldest.at === this.#untilAt ? this.#offset + ofOldest : ofOldest
    this.#untilAt = oldest.at
    const places = marks.map(({ at, id }) => ({ at, id, source: this.#source.name }))
    this.#buffer = places.filter((place) => this.#last === undefined || comparePlaces(place, this.#last) > 0)
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
  options: { limit: number; read: (places: readonly Place[]) => Promise<readonly (Row | undefined)[]> },
): Promise<Page<Row>> {
  const { limit, read } = options
  const rows: Row[] = []
  let last: Place | undefined
  for (let scanned = 0; ; ) {
    const batch = await takeFrom(places, limit - rows.length)
    const found = await read(batch)
    found.forEach((row) => row !== undefined && rows.push(row))
    scanned += batch.length
    last = batch.at(-1) ?? last
    if (batch.length === 0) return { rows, next: undefined }
    if (rows.length < limit && scanned < MOST_SCANNED) continue
    const more = await takeFrom(places, 1)
    return { rows, next: more.length === 0 || last === undefined ? undefined : writeCursor(last) }
  }
}

/** The next places, without ending the generator as `for await` would. */
async function takeFrom(places: AsyncGenerator<Place, void, undefined>, count: number): Promise<Place[]> {
  const taken: Place[] = []
  while (taken.length < count) {
    const { value, done } = await places.next()
    if (done === true) break
    if (value !== undefined) taken.push(value)
  }
  return taken
}
