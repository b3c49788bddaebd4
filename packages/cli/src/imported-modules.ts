import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

const RELATIVE_IMPORT = /\b(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g

/** More than any list of jobs has files; a bound for a folder that is none. */
const MOST_MODULES = 5_000

/** The files that a module imports by relative paths, directly and through each other, itself left out. */
export function importedBy(module: string): string[] {
  const found = new Set([module])
  for (const file of found) {
    if (found.size >= MOST_MODULES) break
    for (const [, path = ''] of readText(file).matchAll(RELATIVE_IMPORT)) found.add(resolve(dirname(file), path))
  }
  found.delete(module)
  return [...found]
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // A path that is not a file as it stands: `import` itself says so where it matters.
    return ''
  }
}
