import { parseSlotId, type Random, type SlotKey, slotKeyOf } from '@cronce/core'
import { createEnqueuer, readTask, type Task } from '@cronce/queue'
import {
  createStore,
  letGo,
  queuePrefix,
  type RunEnd,
  settleChunk,
  startChunk,
  startPlan,
  writePage,
} from '@cronce/store'
import type { Line } from './line.ts'
import { TIME_OF_ARRIVAL, type VirtualTime } from './virtual-time.ts'

/** How the workers of a simulation behave; chances in [0, 1]. */
export interface Conduct {
  /** How long a run takes, ms. */
  readonly durationMs: (job: string) => number
  /** A task vanishes from the queue before anybody works on it. */
  readonly lost: number
  /** Two workers get it. */
  readonly twice: number
  /** It is worked on up to this much later, with chance `late`. */
  readonly late: number
  readonly lateMs: number
  /** A worker dies with the run started; the queue hands the task out again. */
  readonly crash: number
  /** A run has an entity in a chunk; else it is empty, which is a success too. */
  readonly chunk: number
}

/** The workers: they start and end runs through the real scripts, on what the trigger really put on the queues. */
export interface Crew {
  /** Takes what is on the queues and begins to work on it. */
  pump(): Promise<void>
  /** Slots whose run was started again after its end: there must be none. */
  readonly startedAgain: readonly SlotKey[]
  readonly ended: number
}

export interface CrewOptions {
  readonly service: string
  readonly queues: readonly string[]
  readonly line: Line
  readonly time: VirtualTime
  readonly random: Random
  readonly conduct: Conduct
}

const WORKER = { worker: 'crew', release: 'simulated' }

/** How long the queue waits before it hands out a task whose worker died, ms. */
const STALLED_MS = 30_000

/** Takes tasks off queues of BullMQ as its own worker does; their records stay until they are finished. */
const TAKE = `
local taken = {}
for _, queue in ipairs(ARGV) do
  for _, id in ipairs(redis.call('RPOP', queue .. ':wait', 500) or {}) do
    local key = queue .. ':' .. id
    local task = redis.call('HMGET', key, 'name', 'data')
    taken[#taken + 1] = key
    taken[#taken + 1] = task[1] or ''
    taken[#taken + 1] = task[2] or ''
  end
end
return taken`

interface Taken {
  readonly queue: string
  readonly key: string
  readonly task: Task
}

export function createCrew({ service, queues, line, time, random, conduct }: CrewOptions): Crew {
  const store = createStore({ redis: line.client, service, virtualTime: () => TIME_OF_ARRIVAL })
  const enqueuer = createEnqueuer({ redis: line.client, service })
  const ended = new Set<SlotKey>()
  const startedAgain: SlotKey[] = []
  let holds = 0
  const wait = (ms: number) => (ms <= 0 ? undefined : new Promise<void>((done) => time.at(time.now + ms, done)))

  function finish({ key }: Taken): Promise<number> {
    return line.client.del(key)
  }

  async function receive(taken: Taken): Promise<void> {
    const luck = random()
    if (luck < conduct.lost) {
      await finish(taken)
      return
    }
    if (luck < conduct.lost + conduct.twice) void work(taken)
    if (random() < conduct.late) await wait(random() * conduct.lateMs)
    await work(taken)
  }

  async function work(taken: Taken): Promise<void> {
    const { kind } = taken.task
    const outcome = kind === 'plan' ? await plan(taken) : kind === 'chunk' ? await chunk(taken.task) : 'finished'
    if (outcome === 'finished') {
      await finish(taken)
      return
    }
    time.at(time.now + STALLED_MS, () => void work(taken))
  }

  /** A run that ends here has ended for good: nobody redrives in a simulation. */
  function note(task: Task, end: RunEnd | undefined): void {
    if (end !== undefined) ended.add(slotKeyOf(task))
  }

  async function plan({ task, queue }: Taken): Promise<'finished' | 'again'> {
    const at = parseSlotId(task.id)?.at ?? 0
    const start = await startPlan(store, task, { ...WORKER, at, hasDone: false, mostOpenChunks: 10 })
    if (start.status === 'paused') return 'again'
    if (start.status !== 'run' && start.status !== 'planned') return 'finished'
    if (ended.has(slotKeyOf(task))) startedAgain.push(slotKeyOf(task))
    if (random() < conduct.crash) return 'again'
    const add = (chunks: readonly number[]) =>
      enqueuer.add(
        queue,
        chunks.map((number) => ({ ...task, kind: 'chunk', number })),
      )
    if (start.status === 'planned') {
      await add(start.openChunks)
      return 'finished'
    }
    const isEmpty = random() >= conduct.chunk
    if (isEmpty) await wait(conduct.durationMs(task.job))
    const members = isEmpty ? [] : [{ key: 'only', payload: 'null' }]
    const written = { fence: start.fence, after: start.cursor, next: 'only', last: true, members }
    const page = await writePage(store, task, written)
    note(task, page.ended)
    // A worker that dies here leaves a chunk that is on no queue.
    if (page.chunk !== undefined && random() >= conduct.crash) await add([page.chunk])
    return 'finished'
  }

  async function chunk(task: Task): Promise<'finished' | 'again'> {
    holds += 1
    const { number } = task
    const start = await startChunk(store, task, { number, worker: WORKER.worker, token: `hold-${holds}` })
    if (start.status !== 'run') return 'finished'
    if (random() < conduct.crash) return 'again'
    await wait(conduct.durationMs(task.job))
    const settled = await settleChunk(store, task, {
      ...{ ...WORKER, number, fence: start.fence, done: [0] },
      ...{ failures: [], started: [], alone: false, handBack: false },
    })
    note(task, settled.ended)
    if (settled.status === 'gone') await letGo(store, task, number)
    return 'finished'
  }

  line.client.defineCommand('simulation:take', { numberOfKeys: 0, lua: TAKE })
  const take = (line.client as unknown as Record<string, (...queues: string[]) => Promise<string[]>>)['simulation:take']
  const keys = queues.map((queue) => `${queuePrefix(service, queue)}:${queue}`)
  return {
    async pump() {
      const rows = (await take?.call(line.client, ...keys)) ?? []
      for (let index = 0; index < rows.length; index += 3) {
        const [key = '', name = '', data = ''] = rows.slice(index, index + 3)
        const task = data === '' ? undefined : readTask(name, JSON.parse(data))
        if (task !== undefined) void receive({ key, task, queue: key.split(':').at(-2) ?? '' })
      }
    },
    startedAgain,
    get ended() {
      return ended.size
    },
  }
}
