import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { CACHE } from './folders.mjs'

const FOLDER = join(CACHE, 'setup.lock')
const HOLDER = join(FOLDER, 'pid')
const LOOK_AGAIN_MS = 200

/**
 * Does one set-up at a time: two terminals may start at once on a fresh clone. A lock whose holder is gone is taken over.
 *
 * @template T
 * @param {() => Promise<T>} work
 */
export async function oneAtATime(work) {
  mkdirSync(CACHE, { recursive: true })
  while (take() === 'held') await delay(LOOK_AGAIN_MS)
  try {
    return await work()
  } finally {
    rmSync(FOLDER, { recursive: true, force: true })
  }
}

/** @returns {'taken' | 'held'} */
function take() {
  try {
    mkdirSync(FOLDER)
    writeFileSync(HOLDER, String(process.pid))
    return 'taken'
  } catch {
    if (holder() === 'gone') rmSync(FOLDER, { recursive: true, force: true })
    return 'held'
  }
}

/** @returns {'alive' | 'gone'} */
function holder() {
  try {
    const pid = Number(readFileSync(HOLDER, 'utf8'))
    if (!(pid > 0)) return 'alive' // it has just made the folder
    process.kill(pid, 0)
    return 'alive'
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'ESRCH' ? 'gone' : 'alive'
  }
}
