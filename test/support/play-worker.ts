import { listSlots, type Settled, type Store, settleChunk, startChunk, startPlan, writePage } from '@cronce/store'

const WORKER = { worker: 'played', release: 'test' }

/** Starts the oldest enqueued run of a job by the store's scripts alone, as a worker would, and plans one entity. */
export async function startRun(
  store: Store,
  job: string,
  options: { holdChunk?: boolean } = {},
): Promise<{ settle: () => Promise<Settled['status']> }> {
  const [entry] = (await listSlots(store, job, { limit: 1000 }))
    .filter(({ state }) => state === 'enqueued')
    .toReversed()
  if (entry === undefined) throw new Error(`no enqueued run of ${job}`)
  const run = { job, id: entry.id }
  const start = await startPlan(store, run, { ...WORKER, at: entry.at, hasDone: false, mostOpenChunks: 10 })
  await writePage(store, run, {
    fence: start.fence,
    after: '',
    next: 'only',
    last: true,
    members: [{ key: 'only', payload: 'null' }],
  })
  if (!options.holdChunk) return { settle: async () => 'closed' }
  const chunk = await startChunk(store, run, { number: 0, worker: WORKER.worker, token: 'played' })
  return { settle: async () => (await settle(store, run, chunk.fence)).status }
}

/** Ends the oldest running run of a job as succeeded. */
export async function endRun(store: Store, job: string): Promise<void> {
  const [entry] = (await listSlots(store, job, { limit: 1000 })).filter(({ state }) => state === 'running').toReversed()
  if (entry === undefined) throw new Error(`no running run of ${job}`)
  const run = { job, id: entry.id }
  const chunk = await startChunk(store, run, { number: 0, worker: WORKER.worker, token: 'played' })
  await settle(store, run, chunk.fence)
}

function settle(
  store: Store,
  run: { job: string; id: Parameters<typeof settleChunk>[1]['id'] },
  fence: number,
): Promise<Settled> {
  return settleChunk(store, run, {
    ...WORKER,
    number: 0,
    fence,
    done: [0],
    failures: [],
    started: [],
    alone: false,
    handBack: false,
  })
}
