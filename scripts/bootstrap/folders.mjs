import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The project's root folder, without a slash at its end. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/[/\\]$/, '')

/** What may be deleted at any time: fetched programs, reports. Not under version control. */
export const CACHE = join(ROOT, '.cache')

/** Programs of the installed packages. */
export const BIN = join(ROOT, 'node_modules', '.bin')
