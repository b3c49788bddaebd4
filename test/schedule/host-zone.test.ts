import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { slotDigest } from './slot-digest.ts'

const run = promisify(execFile)
const script = fileURLToPath(new URL('print-slot-digest.ts', import.meta.url))

describe('the zone of the host', () => {
  it.each([
    ['America/New_York', 240],
    ['Australia/Lord_Howe', -630],
    ['Africa/Cairo', -180],
    ['Asia/Kathmandu', -345],
    ['UTC', 0],
  ])(
    'changes no slot: a process under TZ=%s answers as this one does',
    { timeout: 180_000 },
    async (zone, minutesWest) => {
      const { stdout } = await run(process.execPath, ['--conditions=@cronce/source', '--import', 'tsx', script], {
        env: { TZ: zone },
      })
      expect(stdout.trim()).toBe(`${slotDigest()} ${minutesWest}`)
    },
  )
})
