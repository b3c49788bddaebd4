import { describe, expect, it } from 'vitest'
import { instant } from './instant-text.ts'

describe('an instant of a request', () => {
  it.each([
    ['2026-11-01', Date.UTC(2026, 10, 1)],
    ['2026-11-01T12:30Z', Date.UTC(2026, 10, 1, 12, 30)],
    ['2026-11-01T12:30:05.250Z', Date.UTC(2026, 10, 1, 12, 30, 5, 250)],
  ])('is a UTC day or an instant in UTC: %s', (text, at) => {
    expect(instant.parse(text)).toBe(at)
  })

  it.each(['', '2026-02-31', '2026-13-01', '2026-11-01T12:30', '2026-11-01T12:30+01:00', 'yesterday', '1796049964102'])(
    'is nothing that depends on a machine or does not exist: "%s"',
    (text) => {
      expect(instant.safeParse(text).success).toBe(false)
    },
  )
})
