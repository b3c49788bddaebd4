import type { Clock } from '@cronce/core'
import { listPresence } from '@cronce/operations'
import { listJobNames, readJobSignal, readServiceSignal, type Store } from '@cronce/store'
import type { ChangeAnswer } from './job-answers.ts'
import { JobSignals } from './job-signals.ts'

/** Time between two looks, ms. */
const LOOK_EVERY_MS = 1_000

/** Looks until who is there is asked for again; they say so every few seconds only. */
const PRESENCE_EVERY = 5

/** Jobs of each of the service's sets that are read at a look. */
const MOST_STIRRING = 100

/** Jobs whose signal is read at a look because something moves; what is left has its turn at the next. */
const MOST_HOT = 50

/** Other jobs that are read at a look, one after another: what no set tells of is seen on a round of its own. */
const MOST_COLD = 10

/** How long a job that moved is looked at, whatever the sets say, ms. */
const HOT_MS = 15_000

/** More changed jobs than these are told as: anything may have changed. */
const MOST_TOLD = 50

const EVERYTHING: ChangeAnswer = { jobs: null, presence: true }

/**
 * Tells that something changed, never what: whoever shows it reads it. One look a second serves every listener, and none is made
 * while nobody listens; a look costs Redis a bounded number of short commands, however many jobs there are.
 */
export class ChangeFeed {
  readonly #store: Store
  readonly #clock: Clock
  readonly #listeners = new Set<(change: ChangeAnswer) => void>()
  readonly #hotUntil = new Map<string, number>()
  #signals = new JobSignals()
  #stirring: ReadonlyMap<string, string> = new Map()
  #definitions = ''
  #presence = ''
  #names: readonly string[] = []
  #cold = 0
  #looks = 0
  #state: 'idle' | 'looking' | 'away' = 'idle'

  constructor(store: Store, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** Answers how to stop listening. */
  listen(listener: (change: ChangeAnswer) => void): () => void {
    this.#listeners.add(listener)
    if (this.#state === 'idle') void this.#lookOn()
    return () => void this.#listeners.delete(listener)
  }

  get listeners(): number {
    return this.#listeners.size
  }

  /** Says at once what this process knows to have changed: somebody pressed something. */
  tell(change: ChangeAnswer = EVERYTHING): void {
    for (const listener of this.#listeners) listener(change)
  }

  async #lookOn(): Promise<void> {
    this.#state = 'looking'
    // What was seen before nobody listened is no base for what changed since.
    this.#signals = new JobSignals()
    this.#looks = 0
    while (this.#listeners.size > 0) {
      await this.#lookOnce()
      await new Promise<void>((resolve) => void this.#clock.after(LOOK_EVERY_MS, resolve))
    }
    this.#state = 'idle'
  }

  async #lookOnce(): Promise<void> {
    try {
      const change = await this.#look()
      if (this.#state === 'away') this.tell()
      else if (change.presence || change.jobs === null || change.jobs.length > 0) this.tell(change)
      this.#state = 'looking'
    } catch {
      // Redis is away: the listeners find out, and say so, when they read.
      if (this.#state === 'looking') this.tell()
      this.#state = 'away'
    }
  }

  async #look(): Promise<ChangeAnswer> {
    const { definitions, stirring } = await readServiceSignal(this.#store, { most: MOST_STIRRING })
    const isFirst = this.#looks === 0
    if (definitions !== this.#definitions || isFirst) {
      this.#names = await listJobNames(this.#store)
      this.#signals.keepOnly([...this.#names, ...this.#hotUntil.keys()])
    }
    const hasNewDefinitions = definitions !== this.#definitions && !isFirst
    this.#definitions = definitions
    const changed = await this.#readSignals(this.#jobsToRead(stirring))
    this.#stirring = stirring
    const presence = this.#looks % PRESENCE_EVERY === 0 && (await this.#hasNewPresence()) && !isFirst
    this.#looks += 1
    return { jobs: hasNewDefinitions || changed.length > MOST_TOLD ? null : changed, presence }
  }

  #jobsToRead(stirring: ReadonlyMap<string, string>): readonly string[] {
    const now = this.#clock.now()
    for (const [job, score] of stirring) {
      if (this.#stirring.get(job) !== score || score.includes('open')) this.#hotUntil.set(job, now + HOT_MS)
    }
    for (const [job, until] of this.#hotUntil) if (until < now) this.#hotUntil.delete(job)
    // Those that were read longest ago first: a delete and a set move a job to the end.
    const hot = [...this.#hotUntil.keys()].slice(0, MOST_HOT)
    for (const job of hot) {
      const until = this.#hotUntil.get(job) ?? now
      this.#hotUntil.delete(job)
      this.#hotUntil.set(job, until)
    }
    const from = this.#cold >= this.#names.length ? 0 : this.#cold
    const cold = this.#names.slice(from, from + MOST_COLD)
    this.#cold = from + MOST_COLD
    return [...new Set([...hot, ...cold])]
  }

  async #readSignals(jobs: readonly string[]): Promise<string[]> {
    const read = jobs.map(async (job) => [job, await readJobSignal(this.#store, job)] as const)
    const changed = this.#signals.changed(new Map(await Promise.all(read)))
    for (const job of changed) this.#hotUntil.set(job, this.#clock.now() + HOT_MS)
    return changed
  }

  async #hasNewPresence(): Promise<boolean> {
    const { replicas, workers } = await listPresence(this.#store)
    const text = JSON.stringify([
      replicas.map(({ id, state, heardAt }) => [id, state, heardAt]),
      workers.map(({ id, state, heardAt, active }) => [id, state, heardAt, active]),
    ])
    const isNew = text !== this.#presence
    this.#presence = text
    return isNew
  }
}
