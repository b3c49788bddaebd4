import { afterAll } from 'vitest'
import { keptProcesses } from './process-keeper.ts'

// Registered before a file's own hooks, so it looks when they are done.
afterAll(() => {
  const left = keptProcesses()
  if (left.length > 0) throw new Error(`this file left running: ${left.join(', ')}; stop it in afterEach or afterAll`)
})
