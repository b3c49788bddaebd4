import { isCronceError } from '@cronce/core'
import type { EffectRef } from '@cronce/store'
import { pgAdapter, postgresReceipts } from '@cronce/store/postgres'
import { Pool, type PoolClient } from 'pg'

/** What an owner of a chunk in a process of its own is told to do. */
export interface OwnerConfig {
  readonly url: string
  readonly service: string
  readonly ref: EffectRef
  readonly fence: number
  readonly idleMs: number
  /** Where it stops until it is told to go on by SIGUSR2: in its transaction, or after the commit. */
  readonly stop: 'in transaction' | 'after commit'
}

const { url, service, ref, fence, idleMs, stop } = JSON.parse(process.argv[2] ?? '') as OwnerConfig
const pool = new Pool({ connectionString: url })
pool.on('error', () => undefined)
const receipts = postgresReceipts({ adapter: pgAdapter(pool), service })
const told = new Promise<void>((resolve) => void process.once('SIGUSR2', resolve))
// Nothing else keeps the process while it waits.
const alive = setInterval(() => undefined, 1_000)

async function attempt(token: string): Promise<string> {
  try {
    const answer = await receipts.transaction(ref, { fence, idleMs, token }, async (tx) => {
      await (tx as PoolClient).query('insert into effect values ($1, $2)', [`${ref.entity} ${ref.effect}`, process.pid])
      if (stop === 'in transaction') {
        console.log('stands in transaction')
        await told
      }
    })
    return answer.status
  } catch (error) {
    return isCronceError(error) ? error.code : String(error)
  }
}

const first = await attempt('first')
if (stop === 'after commit') {
  console.log('stands after commit')
  await told
}
console.log(`first: ${first}`)
console.log(`second: ${await attempt('second')}`)
clearInterval(alive)
await pool.end()
