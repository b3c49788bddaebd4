import { expect, it } from 'vitest'
import { isLoopback } from './loopback.ts'

it.each(['127.0.0.1', '127.0.1.1', '::1', 'localhost'])('only this machine reaches %s', (host) => {
  expect(isLoopback(host)).toBe(true)
})

it.each(['0.0.0.0', '10.0.0.7', '::', 'example.com', '127.evil.example', '127.0.0.1.evil.example'])(
  'others may reach %s',
  (host) => {
    expect(isLoopback(host)).toBe(false)
  },
)
