import type { Fault } from '../errors/cronce-error.ts'
import { describeValue } from '../errors/describe-value.ts'

/** No definition is nested deeper; a cyclic value is cut here. */
const DEEPEST = 5

/** No definition has as many objects: bounds the work on a value that refers to itself by many keys. */
const MOST_OBJECTS = 1_000

export interface PlainCopy {
  readonly value: unknown
  /** The properties that could not be read: getters and proxies that throw. */
  readonly faults: readonly Fault[]
}

/**
 * Reads a value once: plain objects are copied, own enumerable properties only, and all else is taken as it is. What is
 * checked afterwards is then what is used, whatever getters and proxies would answer the second time. Never throws.
 *
 * @param opaque paths that are not looked into: `entity.schema`.
 */
export function plainCopy(value: unknown, opaque: readonly string[] = []): PlainCopy {
  const faults: Fault[] = []
  let objects = 0
  const copy = (source: unknown, path: readonly string[]): unknown => {
    if (path.length > DEEPEST || objects > MOST_OBJECTS || opaque.includes(path.join('.'))) return source
    try {
      return isPlain(source) ? copyObject(source, path) : source
    } catch (error) {
      faults.push({
        path: path.join('.'),
        message: `expected an object, got one that cannot be read (${describeThrown(error)})`,
      })
      return undefined
    }
  }
  const copyObject = (source: object, path: readonly string[]): Record<string, unknown> => {
    // Without a prototype, a key named __proto__ is a key like any other.
    objects++
    const target = Object.create(null) as Record<string, unknown>
    for (const key of Object.keys(source)) {
      const inner = [...path, key]
      try {
        target[key] = copy((source as Record<string, unknown>)[key], inner)
      } catch (error) {
        target[key] = undefined
        faults.push({
          path: inner.join('.'),
          message: `expected a value, got one that cannot be read (${describeThrown(error)})`,
        })
      }
    }
    return target
  }
  return { value: copy(value, []), faults }
}

/** The copy without the values at these paths. The copy itself is changed; what it took as it was is not. */
export function withoutPaths<T extends object>(copy: T, faults: readonly Fault[]): T {
  for (const { path } of faults) {
    const keys = path.split('.')
    const last = keys.pop() ?? ''
    let holder: unknown = copy
    for (const key of keys) holder = isCopy(holder) ? holder[key] : undefined
    if (isCopy(holder)) delete holder[last]
  }
  return copy
}

function isCopy(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && isPlain(value) && Object.getPrototypeOf(value) === null
}

/** Made by a literal, `JSON.parse` or `Object.create(null)`, of this realm or another. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function describeThrown(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message.slice(0, 100) : describeValue(thrown)
  } catch {
    return describeValue(thrown)
  }
}
