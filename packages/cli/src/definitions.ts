import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { CronceError, type Fault, type JobDefinition } from '@cronce/core'
import { importedBy } from './imported-modules.ts'

/** The definitions of a service, as a module exports them. */
export interface Definitions {
  /** Where they are from. */
  readonly module: string
  readonly jobs: readonly JobDefinition[]
  /** Every definition that was refused, by its file. */
  readonly refused: readonly RefusedDefinition[]
}

export interface RefusedDefinition {
  readonly code: string
  readonly message: string
  readonly faults: readonly Fault[]
}

export interface DefinitionSource {
  /** A path to the module, from `folder`. Default: the package `@cronce/jobs` that `folder` sees, else that of this checkout. */
  readonly module?: string | undefined
  readonly folder: string
}

const PACKAGE = '@cronce/jobs'

/** Where the definitions are; undefined where there are none. */
export function findDefinitions({ module, folder }: DefinitionSource): string | undefined {
  if (module !== undefined) return resolve(folder, module)
  const ownPackage = fileURLToPath(new URL('../../jobs/package.json', import.meta.url))
  for (const from of [join(folder, 'package.json'), ...(existsSync(ownPackage) ? [ownPackage] : [])]) {
    try {
      return createRequire(from).resolve(PACKAGE)
    } catch {
      // Not there: the next place.
    }
  }
  return undefined
}

/**
 * Loads the definitions. Importing them defines them, and the first bad one stops its importers: so the modules below the one
 * named are then imported one by one, and every bad definition is reported.
 *
 * @throws CronceError CRONCE_JOBS_MODULE where the module is missing, throws for another reason, or exports no definitions
 */
export async function loadDefinitions(source: DefinitionSource): Promise<Definitions> {
  const module = findDefinitions(source)
  if (module === undefined) throw unloadable(PACKAGE, `no package of that name from ${source.folder}`)
  if (!existsSync(module)) throw unloadable(module, 'there is no such file')
  const refusals = new Set<unknown>()
  const exported = await importModule(module, refusals)
  if (exported !== undefined) return { module, jobs: definitionsOf(exported, module), refused: [] }
  for (const imported of importedBy(module)) await importModule(imported, refusals)
  return { module, jobs: [], refused: Array.from(refusals, readRefusal) }

  async function importModule(file: string, into: Set<unknown>): Promise<Record<string, unknown> | undefined> {
    try {
      return (await import(pathToFileURL(file).href)) as Record<string, unknown>
    } catch (error) {
      if (!isRefusal(error)) throw unloadable(file, error instanceof Error ? error.message : String(error), error)
      into.add(error)
      return undefined
    }
  }
}

/** `jobs` where it is exported, else every export that is a definition. */
function definitionsOf(exported: Readonly<Record<string, unknown>>, module: string): readonly JobDefinition[] {
  const { jobs } = exported
  if (isIterable(jobs)) return [...jobs] as JobDefinition[]
  const found = Object.values(exported).filter(isDefinition)
  if (found.length === 0) throw unloadable(module, 'it exports neither `jobs` nor a definition')
  return [...new Set(found)]
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value
}

function isDefinition(value: unknown): value is JobDefinition {
  return typeof value === 'object' && value !== null && 'schedule' in value && 'onCrash' in value && 'entity' in value
}

/** By shape, not by class: the module may have its own copy of core. */
function isRefusal(error: unknown): error is RefusedDefinition {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('CRONCE_') && 'faults' in error
}

function readRefusal(error: unknown): RefusedDefinition {
  const { code, message, faults } = error as RefusedDefinition
  return { code, message, faults }
}

function unloadable(module: string, reason: string, cause?: unknown): CronceError {
  return new CronceError('CRONCE_JOBS_MODULE', { module, reason }, { cause })
}
