import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createWorker } from '@cronce/worker'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../support/index.ts'
import { DEFINITIONS, EXAMPLES } from './handler-examples.ts'

const PAGE = readFileSync(join(ROOT, 'docs/handlers.md'), 'utf8')
const COMPILED = readFileSync(join(ROOT, 'test/workspace/handler-examples.ts'), 'utf8')
const BLOCKS = Array.from(PAGE.matchAll(/```ts\n(.*?)\n```/gs), ([, block = '']) => block)

describe('the page of handlers', () => {
  it.each(BLOCKS)('has an example that compiles: %s', (block) => {
    expect(COMPILED).toContain(block)
  })

  it('has examples that a worker takes', () => {
    expect(BLOCKS).toHaveLength(EXAMPLES.length + DEFINITIONS.length)
    for (const handler of EXAMPLES) {
      const options = { service: 'billing', redis: 'redis://127.0.0.1:1', queues: { default: 1 } }
      expect(createWorker({ ...options, handlers: [handler] }).health().state).toBe('created')
    }
  })
})
