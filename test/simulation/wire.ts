import { setImmediate as macrotask } from 'node:timers/promises'
import type { Random } from '@cronce/core'
import { type Command, Redis } from 'ioredis'
import { patchTime } from './virtual-time.ts'

/**
 * The connections of all simulated processes. A command waits on its line until the wire lets it through, in an order of the seed, and all
 * go over one real connection: so Redis gets them in that order, every interleaving of processes between any two of their commands can
 * happen, and it happens again with the same seed.
 */
export interface Wire {
  /** The connection of one process. */
  open(name: string): Line
  /** Lets commands through until no open line has any. */
  drain(): Promise<void>
  /** Commands that reached Redis. */
  readonly sent: number
  /** Whether something was written to a queue since this was asked. */
  takeQueueNews(): boolean
  close(): void
}

/** How a command fails that the process lives to hear of. */
export type Failure =
  /** Redis never got it. */
  | 'lost-command'
  /** Redis did it; the answer never came. */
  | 'lost-answer'
  /** Redis refused it, with an error that proves that nothing was done. */
  | 'refused'

/** The connection of one process. */
export interface Line {
  readonly name: string
  readonly client: Redis
  readonly state: 'open' | 'frozen' | 'cut'
  /** Freezes the process with its next commands unsent, as SIGSTOP does. */
  freeze(): void
  thaw(): void
  /** Cuts it for good after so many more commands; the last one's answer is `lost` or never was asked for. */
  cutAfter(commands: number): void
  /** Freezes it after so many more commands. */
  freezeAfter(commands: number): void
  /** Fails this many of the next commands. */
  fail(commands: number, how: Failure): void
  /** Lets everything through ungated and closes: for an orderly end. */
  close(): void
  onCut: () => void
  onFreeze: () => void
}

export interface WireOptions {
  readonly url: string
  readonly random: Random
  /** What time it is for Redis. */
  readonly now: () => number
  /** Chance that a line that could send waits for another round; without it, processes that wake together go in step. */
  readonly waits: number
  /** Called between two steps of the wire: time may pass here. */
  readonly onStep?: () => void
  /** Changes the text of a script as it is loaded: to see that a broken one is found. */
  readonly mutate?: (name: string, lua: string) => string
}

/** A client that never connects: what it is to send is held. */
class HeldRedis extends Redis {
  hold: (command: Command) => void = () => undefined
  mutate: WireOptions['mutate'] = undefined

  override sendCommand(command: Command): unknown {
    // Without a pipeline's stream: each of its commands can be the last one before a crash.
    this.hold(command)
    return command.promise
  }

  override defineCommand(name: string, definition: Parameters<Redis['defineCommand']>[1]): void {
    super.defineCommand(name, { ...definition, lua: this.mutate?.(name, definition.lua) ?? definition.lua })
  }
}

/** Opens the wire: one connection to Redis. */
export async function openWire(options: WireOptions): Promise<Wire> {
  const { url, random, now, waits, onStep } = options
  const carrier = new Redis(url, { maxRetriesPerRequest: null, connectionName: 'simulation' })
  await carrier.ping()
  const round = collectWrites(carrier)
  let lines: SimulatedLine[] = []
  let sent = 0
  let queueNews = false
  const carry = (command: Command): void => {
    sent += 1
    if (isQueueWrite(command)) queueNews = true
    patchTime(command, now())
    void Promise.resolve(carrier.sendCommand(command, round as unknown as WriteStream)).catch(() => undefined)
  }
  return {
    open(name) {
      const line = new SimulatedLine(name, { ...options, carry })
      lines.push(line)
      return line
    },
    async drain() {
      for (;;) {
        // Everything that woke runs to its next command.
        await macrotask()
        const ready = shuffled(
          random,
          lines.filter((line) => line.isReady),
        )
        const [first, ...rest] = ready
        if (first === undefined) break
        const going = [first, ...rest.filter(() => random() >= waits)]
        const answered = going.map((line) => line.release())
        round.flush()
        await Promise.all(answered)
        // Only now, and in this order: how the answers came in over the network has no part in what follows.
        for (const line of going) line.deliver()
        onStep?.()
      }
      lines = lines.filter(({ state }) => state !== 'cut')
    },
    get sent() {
      return sent
    },
    takeQueueNews() {
      const news = queueNews
      queueNews = false
      return news
    },
    close: () => carrier.disconnect(),
  }
}

/** What ioredis takes as the stream of a pipeline. */
type WriteStream = Parameters<Redis['sendCommand']>[1]

/** Puts what is sent in one round into one write, as a pipeline of ioredis does. */
function collectWrites(carrier: Redis) {
  let parts: (string | Buffer)[] = []
  return {
    isPipeline: true,
    destination: { redis: carrier },
    write(part: string | Buffer) {
      parts.push(part)
    },
    flush() {
      if (parts.length > 0)
        carrier.stream.write(
          parts.every((part) => typeof part === 'string')
            ? parts.join('')
            : Buffer.concat(parts.map((part) => Buffer.from(part))),
        )
      parts = []
    },
  }
}

/** Scripts of BullMQ have a queue's keys; the crew's own takes have none. */
function isQueueWrite({ args }: Command): boolean {
  return String(args[1]) !== '0' && String(args[2]).includes(':queue:')
}

function shuffled<Value>(random: Random, values: Value[]): Value[] {
  for (let index = values.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1))
    const [a, b] = [values[index], values[other]]
    if (a !== undefined && b !== undefined) [values[index], values[other]] = [b, a]
  }
  return values
}

interface LineOptions extends WireOptions {
  readonly carry: (command: Command) => void
}

class SimulatedLine implements Line {
  readonly name: string
  readonly client: HeldRedis
  state: Line['state'] = 'open'
  onCut = () => undefined as void
  onFreeze = () => undefined as void
  readonly #options: LineOptions
  #held: Command[] = []
  #undelivered: (() => void)[] = []
  #cutIn = Number.POSITIVE_INFINITY
  #freezeIn = Number.POSITIVE_INFINITY
  #failures: Failure[] = []

  constructor(name: string, options: LineOptions) {
    this.name = name
    this.#options = options
    this.client = new HeldRedis(options.url, { lazyConnect: true })
    this.client.mutate = options.mutate
    this.client.hold = (command) => {
      if (this.state !== 'cut') this.#held.push(command)
    }
  }

  get isReady(): boolean {
    return this.state === 'open' && this.#held.length > 0
  }

  freeze(): void {
    if (this.state !== 'open') return
    this.state = 'frozen'
    this.onFreeze()
  }

  thaw(): void {
    if (this.state !== 'frozen') return
    this.state = 'open'
    this.deliver()
  }

  cutAfter(commands: number): void {
    this.#cutIn = commands
    if (commands <= 0) this.#cut()
  }

  freezeAfter(commands: number): void {
    this.#freezeIn = commands
  }

  fail(commands: number, how: Failure): void {
    for (let count = 0; count < commands; count++) this.#failures.push(how)
  }

  close(): void {
    this.#cut()
  }

  /** Lets some of what waits through: all of it, or, by chance, the first few. Answers when Redis has answered. */
  async release(): Promise<void> {
    const { random } = this.#options
    const waiting = this.#held.length
    const most = waiting > 1 && random() < 0.2 ? 1 + Math.floor(random() * waiting) : waiting
    const batch = this.#held.splice(0, Math.min(most, this.#cutIn, this.#freezeIn))
    this.#cutIn -= batch.length
    this.#freezeIn -= batch.length
    const answered = batch.map((command) => this.#send(command))
    // The answer to the last command before a crash or a stop does not arrive, or not before it goes on.
    if (this.#cutIn <= 0) this.#cut()
    if (this.#freezeIn <= 0) {
      this.#freezeIn = Number.POSITIVE_INFINITY
      this.freeze()
    }
    await Promise.all(answered)
  }

  #send(command: Command): Promise<void> {
    const failure = this.#failures.shift()
    if (failure === 'lost-command' || failure === 'refused') {
      const error = new Error(
        failure === 'refused' ? "OOM command not allowed when used memory > 'maxmemory'." : 'Command timed out',
      )
      this.#undelivered.push(() => command.reject(error))
      return Promise.resolve()
    }
    const answered = this.#await(command, failure)
    this.#options.carry(command)
    return answered
  }

  /** Keeps the answer of a command until the process is to have it. */
  #await(command: Command, failure: Failure | undefined): Promise<void> {
    const { resolve, reject } = command
    return new Promise((done) => {
      const keep = (deliver: () => void) => {
        this.#undelivered.push(failure === 'lost-answer' ? () => reject(new Error('Command timed out')) : deliver)
        done()
      }
      command.resolve = (value) => keep(() => resolve(value))
      command.reject = (error) => keep(() => reject(error))
    })
  }

  deliver(): void {
    if (this.state !== 'open') return
    const settle = this.#undelivered
    this.#undelivered = []
    for (const deliver of settle) deliver()
  }

  #cut(): void {
    if (this.state === 'cut') return
    this.state = 'cut'
    this.#held = []
    this.#undelivered = []
    this.client.disconnect()
    this.onCut()
  }
}
