import { availableParallelism } from 'node:os'
import { type ResourceLimits, Worker } from 'node:worker_threads'
import { CronceError, describeValue, type Fault } from '@cronce/core'
import type { EntityContext } from './entity-context.ts'
import type { RunSlot } from './run-slot.ts'
import { THREAD_PROGRAM } from './thread-program.ts'

export interface ThreadOptions {
  /** The function that the module exports. Default `each`. */
  readonly name?: string
  /** Threads at once, each with memory of its own (about 10 MB and what the module loads). Default: one less than the cores, at least 1. */
  readonly threads?: number
  /** Bounds of a thread's memory, as of `node:worker_threads`: beyond them the attempt fails, and the process lives on. */
  readonly resourceLimits?: ResourceLimits
  /** Node's own options for the threads, such as `['--import', 'tsx']` for a module in TypeScript. Default: those of the process. */
  readonly execArgv?: readonly string[]
}

/** What the function in the thread is given besides the entity: what can be sent there. */
export interface ThreadFacts {
  readonly slot: RunSlot
  readonly attempt: number
}

/** A function that a module exports for {@link inThread}: entity in, result out, both such as can be cloned. */
export type ThreadFunction = (entity: never, facts: ThreadFacts) => unknown

/** What {@link inThread} makes of it. */
export type InThread<Each extends ThreadFunction> = (
  entity: Parameters<Each>[0],
  caller: ThreadCaller,
) => Promise<Awaited<ReturnType<Each>>>

/** The part of `ctx` that is needed here: that of `each` fits. */
export type ThreadCaller = Pick<EntityContext, 'slot' | 'attempt' | 'signal'>

/**
 * A function that runs in threads of its own, for work that keeps the processor busy: on the main loop it would hold up every other
 * chunk, and beyond the lock's length its own would be taken for dead. It gets the entity and {@link ThreadFacts}, and answers what
 * can be cloned. When the attempt is over (timed out, aborted, fenced off), its thread is ended, in the middle of a loop too.
 *
 * There are no receipts in a thread: have the effects on the main loop, with what it answers. `NonRetryableError` and
 * `RetryLaterError` may be thrown in it. Threads start when they are first needed and keep no process alive.
 *
 * @param module a URL, so that it is found from wherever it runs: `new URL('./render.js', import.meta.url)`.
 * @throws CronceError CRONCE_THREAD_INVALID at once; the function rejects with CRONCE_THREAD_ENDED where its thread exits or runs out
 *   of memory
 * @example
 * // render.ts: export function each(account: Account): Uint8Array { return renderPdf(account) }
 * const render = inThread<typeof import('./render.ts').each>(new URL('./render.js', import.meta.url))
 * handle(statements, {
 *   entities,
 *   each: async (account, ctx) => {
 *     const pdf = await render(account, ctx)
 *     await ctx.once('store', () => store(account.id, pdf))
 *   },
 * })
 */
export function inThread<Each extends ThreadFunction>(module: URL, options: ThreadOptions = {}): InThread<Each> {
  const { name = 'each', threads = Math.max(1, availableParallelism() - 1), resourceLimits, execArgv } = options
  const faults: Fault[] = []
  if (!(module instanceof URL)) faults.push({ path: 'module', message: `expected a URL, got ${describeValue(module)}` })
  if (!Number.isSafeInteger(threads) || threads < 1)
    faults.push({ path: 'threads', message: `expected a whole number from 1, got ${describeValue(threads)}` })
  if (faults.length > 0) {
    const summary = faults.map(({ path, message }) => `${path}: ${message}`).join('; ')
    throw new CronceError('CRONCE_THREAD_INVALID', { summary }, { faults })
  }
  const pool = new ThreadPool(threads, () => {
    const thread = new Worker(THREAD_PROGRAM, {
      eval: true,
      workerData: { module: module.href, name },
      ...(resourceLimits === undefined ? {} : { resourceLimits }),
      ...(execArgv === undefined ? {} : { execArgv: [...execArgv] }),
    })
    thread.unref()
    // Heard of by the call that it serves, if any; without a listener the process would end.
    thread.on('error', () => undefined)
    return thread
  })
  return (entity, { slot, attempt, signal }) => {
    const answer = pool.call({ entity, facts: { slot: { ...slot }, attempt } }, signal)
    return answer as Promise<Awaited<ReturnType<Each>>>
  }
}

/** What a thread answers to one call. */
type Answer =
  | { readonly status: 'done'; readonly result: unknown }
  | { readonly status: 'thrown'; readonly error: { name: string; message: string; stack?: string; afterMs?: number } }

/** Threads that wait for work, and calls that wait for a thread. */
class ThreadPool {
  readonly #most: number
  readonly #start: () => Worker
  readonly #idle: Worker[] = []
  readonly #waiting: (() => void)[] = []
  #busy = 0

  constructor(most: number, start: () => Worker) {
    this.#most = most
    this.#start = start
  }

  async call(request: unknown, signal: AbortSignal): Promise<unknown> {
    await this.#room(signal)
    const thread = this.#takeIdle() ?? this.#start()
    this.#busy += 1
    let isFit = false
    try {
      const answer = await ask(thread, request, signal)
      isFit = true
      if (answer.status === 'done') return answer.result
      throw Object.assign(new Error(answer.error.message), answer.error)
    } finally {
      this.#busy -= 1
      if (isFit) this.#idle.push(thread)
      else void thread.terminate()
      this.#waiting.shift()?.()
    }
  }

  async #room(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    while (this.#busy >= this.#most) {
      await new Promise<void>((resolve, reject) => {
        const turn = () => {
          signal.removeEventListener('abort', leave)
          resolve()
        }
        const leave = () => {
          this.#waiting.splice(this.#waiting.indexOf(turn), 1)
          reject(signal.reason)
        }
        this.#waiting.push(turn)
        signal.addEventListener('abort', leave, { once: true })
      })
      if (signal.aborted) {
        // The turn was given to one that is over: it is another's.
        this.#waiting.shift()?.()
        signal.throwIfAborted()
      }
    }
  }

  /** One that has not exited by itself while nobody used it. */
  #takeIdle(): Worker | undefined {
    let thread = this.#idle.pop()
    while (thread !== undefined && thread.threadId === -1) thread = this.#idle.pop()
    return thread
  }
}

/** One call. Rejects where the thread ends, or the signal fires, before it has answered. */
async function ask(thread: Worker, request: unknown, signal: AbortSignal): Promise<Answer> {
  let forget = () => undefined as void
  try {
    return await new Promise<Answer>((resolve, reject) => {
      const onAbort = () => reject(signal.reason)
      const onEnd = (cause: unknown) =>
        reject(new CronceError('CRONCE_THREAD_ENDED', { reason: describeEnd(cause) }, { cause }))
      thread.on('message', resolve).on('messageerror', onEnd).on('error', onEnd).on('exit', onEnd)
      signal.addEventListener('abort', onAbort)
      forget = () => {
        thread.off('message', resolve).off('messageerror', onEnd).off('error', onEnd).off('exit', onEnd)
        signal.removeEventListener('abort', onAbort)
      }
      // Throws where the entity cannot be cloned.
      thread.postMessage(request, [])
    })
  } finally {
    forget()
  }
}

function describeEnd(cause: unknown): string {
  return cause instanceof Error ? cause.message : `it exited with code ${String(cause)}`
}
