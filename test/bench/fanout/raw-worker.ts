import { Worker } from 'bullmq'
import { Redis } from 'ioredis'

// One process of the raw side: a plain BullMQ worker, one job per entity. `raw-worker.ts <redis url> <queue>`
const [url = '', queue = ''] = process.argv.slice(2)
const connection = new Redis(url, { maxRetriesPerRequest: null })
const worker = new Worker(queue, async () => undefined, { connection, concurrency: 100 })
await worker.waitUntilReady()
process.stdout.write('ready\n')
