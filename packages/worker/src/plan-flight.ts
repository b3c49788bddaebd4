import { type PageWritten, writePage } from '@cronce/store'
import type { PlanPart } from './page-reader.ts'
import { addTasks, type TaskInHand } from './run-progress.ts'

/** The most pages on their way to the store at once. */
const MOST_PAGES = 10

/** ... and the most text of theirs, in characters. */
const MOST_TEXT = 1024 * 1024

/** Where the pages of a flight have come down. */
export interface Landing {
  readonly status: PageWritten['status']
  /** The answer to the last page that was written; undefined where none was. */
  readonly written: PageWritten | undefined
}

/**
 * Pages of one plan step on their way to the store (W2). They are sent one behind the other, without waiting for the answers: each is
 * written only if the one before it was, by its cursor. Their chunks are added in one go when they have landed.
 */
export class PlanFlight {
  readonly #inHand: TaskInHand
  readonly fence: number
  #cursor: string
  #chunks: number
  #open: number
  #pages: Promise<PageWritten>[] = []
  #text = 0
  #adding: Promise<void> = Promise.resolve()

  constructor(inHand: TaskInHand, start: { fence: number; cursor: string; written: number; closed: number }) {
    this.#inHand = inHand
    this.fence = start.fence
    this.#cursor = start.cursor
    this.#chunks = start.written
    this.#open = start.written - start.closed
  }

  /** The cursor after the last page that was sent. */
  get cursor(): string {
    return this.#cursor
  }

  /** Chunks of the plan so far, those of earlier steps included. */
  get chunks(): number {
    return this.#chunks
  }

  /** Whether it is time to land: enough is on its way, or as much as there is room for. */
  get isFull(): boolean {
    const isAtBound = this.#open + this.#pages.length >= this.#inHand.context.timing.openChunks
    return isAtBound || this.#pages.length >= MOST_PAGES || this.#text >= MOST_TEXT
  }

  send(part: PlanPart): void {
    const { context, run } = this.#inHand
    const page = writePage(context.store, run, { ...part, fence: this.fence, after: this.#cursor })
    // Heard of when the flight lands.
    page.catch(() => undefined)
    this.#pages.push(page)
    this.#cursor = part.next
    for (const { payload } of part.members) this.#text += payload.length
  }

  /**
   * Waits for the answers and begins to add the chunks that were written.
   *
   * @throws what the store or the queue threw; what is written and not added is added by the next start
   */
  async land(): Promise<Landing> {
    const pages = this.#pages
    this.#pages = []
    this.#text = 0
    const answers = await Promise.all(pages)
    const written = answers.filter(({ status }) => status === 'written')
    const numbers = written.flatMap(({ chunk }) => (chunk === undefined ? [] : [chunk]))
    this.#tell('chunk.written', numbers)
    await this.#adding
    if (numbers.length > 0) this.#add(numbers)
    this.#chunks = Math.max(this.#chunks, ...numbers.map((number) => number + 1))
    const last = written.at(-1)
    if (last !== undefined) this.#open = last.openChunks
    return { status: answers.find(({ status }) => status !== 'written')?.status ?? 'written', written: last }
  }
  /** Waits for the chunks that are being added. */
  async settled(): Promise<void> {
    await this.#adding
  }

  #add(numbers: readonly number[]): void {
    const tasks = numbers.map((number) => ({ kind: 'chunk' as const, number }))
    this.#adding = addTasks(this.#inHand, tasks).then(() => this.#tell('chunk.added', numbers))
    // Heard of at the next landing, or when the step ends.
    this.#adding.catch(() => undefined)
  }

  #tell(event: 'chunk.written' | 'chunk.added', numbers: readonly number[]): void {
    const { context, slot } = this.#inHand
    for (const chunk of numbers) context.events.emit(event, { slot, chunk })
  }
}
