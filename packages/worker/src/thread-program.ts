/**
 * What runs in a thread: imports the module and answers one call at a time. Text, so that it is the same from sources and from what
 * was built, whatever loads either.
 */
export const THREAD_PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads')
const loading = import(workerData.module)
loading.catch(() => undefined)
parentPort.on('message', async ({ entity, facts }) => {
  try {
    const run = (await loading)[workerData.name]
    if (typeof run !== 'function') {
      throw new TypeError('expected ' + workerData.module + ' to export a function ' + workerData.name + ', got ' + typeof run)
    }
    const result = await run(entity, facts)
    parentPort.postMessage({ status: 'done', result })
  } catch (error) {
    // What cannot be cloned is told in words; names and fields that ask for a retry are kept.
    const { name, message, stack, afterMs } = Object(error)
    const told = typeof message === 'string' ? { name: String(name), message, stack: String(stack), afterMs } : { name: 'Error', message: String(error) }
    parentPort.postMessage({ status: 'thrown', error: told })
  }
})
`
