import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ROOT } from '../support/index.ts'

const RULES = ['.oxlintrc.json', '.dependency-cruiser.mjs', 'biome.json', 'knip.json', 'scripts', 'tsconfig.json']

/** A workspace in a temporary folder, under this one's rules, with nothing in it but the given files. */
export interface Miniature {
  readonly folder: string
  /** Runs a program of the installed packages in it, whatever its exit code. */
  run(program: string, args: readonly string[]): Promise<{ code: number; output: string }>
  remove(): void
}

/**
 * Lays out a miniature. `files` maps paths to texts. Packages see what they see here: `packages/queue` has bullmq.
 */
export function layOutMiniature(files: Readonly<Record<string, string>>): Miniature {
  const folder = mkdtempSync(join(tmpdir(), 'cronce-miniature-'))
  for (const file of [...RULES, 'tsconfig.base.json']) cpSync(join(ROOT, file), join(folder, file), { recursive: true })
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return {
    folder,
    run: async (program, args) => {
      const file = program === 'node' ? process.execPath : join(ROOT, 'node_modules/.bin', program)
      return await run(file, { args, folder })
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Gives a package of the miniature the dependencies that it has here. */
export function linkDependencies(miniature: Miniature, name: string): void {
  symlinkSync(join(ROOT, name, 'node_modules'), join(miniature.folder, name, 'node_modules'))
}

async function run(file: string, { args, folder }: { args: readonly string[]; folder: string }) {
  return await new Promise<{ code: number; output: string }>((resolve) => {
    execFile(file, [...args], { cwd: folder }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, output: stdout + stderr })
    })
  })
}
