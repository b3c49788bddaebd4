import { setImmediate as macrotask } from 'node:timers/promises'
import type { Random } from '@cronce/core'
import { type Command, Redis } from 'ioredis'
import { type Line, SimulatedLine } from './line.ts'
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
