import { expect, it } from 'vitest'
import { utcText, zonedText } from './instant-text.ts'

it('shows an instant on the clocks of a zone, cut to seconds', () => {
  const at = Date.parse('2026-03-08T07:00:05.250Z')
  expect(zonedText(at, 'America/New_York')).toBe('2026-03-08 03:00:05 EDT')
  expect(zonedText(at, 'UTC')).toBe('2026-03-08 07:00:05 UTC')
  expect(utcText(Date.parse('2026-03-08T07:00:00Z'))).toBe('2026-03-08T07:00:00Z')
})
