import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { announce, effectFile, withdraw } from './state-folder.ts'

const system = (pid: number) => ({ redisUrl: 'redis://127.0.0.1:6379', service: 'cronce', pid })

let folder: string
let deadPid: number

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cronce-state-'))
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
  deadPid = child.pid ?? 0
  await once(child, 'exit')
})
afterEach(() => rm(folder, { recursive: true }))

const state = async () => JSON.parse(await readFile(join(folder, 'state.json'), 'utf8')) as unknown

describe('the state file', () => {
  it('says where the system runs, until it is taken back', async () => {
    expect(await announce(folder, system(process.pid))).toBe('announced')
    expect(await state()).toEqual(system(process.pid))
    await withdraw(folder, process.pid)
    expect(await readdir(folder)).toEqual([])
  })

  it('stays that of a system that lives, and is taken over from one that does not', async () => {
    await announce(folder, system(process.ppid))
    expect(await announce(folder, system(process.pid))).toBe('taken')
    await withdraw(folder, process.pid)
    expect(await state()).toEqual(system(process.ppid))
    await writeFile(join(folder, 'state.json'), JSON.stringify(system(deadPid)))
    expect(await announce(folder, system(process.pid))).toBe('announced')
  })

  it('is written over where it is none', async () => {
    await writeFile(join(folder, 'state.json'), '{"pid":')
    expect(await announce(folder, system(process.pid))).toBe('announced')
  })
})

describe("the receiver's log", () => {
  it('stays after its process, until the next one starts', async () => {
    await writeFile(join(folder, `effects-${deadPid}.ndjson`), '')
    await writeFile(join(folder, `effects-${process.ppid}.ndjson`), '')
    expect(await effectFile(folder, process.pid)).toBe(join(folder, `effects-${process.pid}.ndjson`))
    expect(await readdir(folder)).toEqual([`effects-${process.ppid}.ndjson`])
  })
})
