import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../support/index.ts'

const NOT_SOURCES = ['node_modules', 'dist', '.turbo', 'data', 'screenshots']

export interface SourceFile {
  /** From the project's root, with slashes. */
  readonly path: string
  readonly text: string
}

/** Every file that people wrote below these folders of the project. */
export function sourceFiles(...folders: readonly string[]): SourceFile[] {
  return folders.flatMap(pathsIn).map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
}

function pathsIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (!entry.isDirectory()) return [path]
    return NOT_SOURCES.includes(entry.name) ? [] : pathsIn(path)
  })
}

/** The text without comments and without the insides of its strings. */
export function codeOf(text: string): string {
  return text
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .replaceAll(/(^|\s)\/\/.*$/gm, '')
    .replaceAll(/'(?:[^'\\\n]|\\.)*'/g, "''")
}
