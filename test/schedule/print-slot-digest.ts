import { slotDigest } from './slot-digest.ts'

process.stdout.write(`${slotDigest()} ${new Date(Date.parse('2026-07-01T00:00:00Z')).getTimezoneOffset()}\n`)
