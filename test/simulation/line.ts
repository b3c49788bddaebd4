import type { Random } from '@cronce/core'
import { type Command, Redis } from 'ioredis'

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

/** What a line needs of its wire. */
export interface LineOptions {
  readonly url: string
  readonly random: Random
  readonly mutate?: ((name: string, lua: string) => string) | undefined
  readonly carry: (command: Command) => void
}

/** A client that never connects: what it is to send is held. */
class HeldRedis extends Redis {
  hold: (command: Command) => void = () => undefined
  mutate: LineOptions['mutate'] = undefined

  override sendCommand(command: Command): unknown {
    // Without a pipeline's stream: each of its commands can be the last one before a crash.
    this.hold(command)
    return command.promise
  }

  override defineCommand(name: string, definition: Parameters<Redis['defineCommand']>[1]): void {
    super.defineCommand(name, { ...definition, lua: this.mutate?.(name, definition.lua) ?? definition.lua })
  }
}

/** A process's end of the wire. */
export class SimulatedLine implements Line {
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
