import { CronceError, type Fault } from '../errors/cronce-error.ts'
import { describeValue } from '../errors/describe-value.ts'
import { refusal } from './define-job.ts'
import { type JobDefinition, jobSettings } from './job-definition.ts'
import { parseJobSettings } from './stored-settings.ts'

/** The jobs of a service by name. Frozen; iterates in the order given. */
export interface JobCatalog<Job extends JobDefinition = JobDefinition> extends Iterable<Job> {
  readonly size: number
  readonly names: readonly Job['name'][]
  /** The job of a name the compiler knows. */
  get<Name extends Job['name']>(name: Name): Extract<Job, { readonly name: Name }>
  /** The job of any name, such as one from a queue or a command line; undefined where there is none. */
  find(name: string): Job | undefined
  has(name: string): name is Job['name']
}

/**
 * The catalogue of a service's jobs.
 *
 * @throws CronceError CRONCE_JOB_INVALID where an element is no definition (`undefined` from an import cycle, say);
 *   CRONCE_JOB_DUPLICATE where two have one name; CRONCE_JOB_WAS_PRESENT where `was` names a job that is still here, or
 *   that two jobs claim to have been. `faults` has every fault of the list.
 */
export function jobCatalog<const Jobs extends readonly JobDefinition[]>(definitions: Jobs): JobCatalog<Jobs[number]> {
  const invalid = definitions.flatMap((definition, index) => elementFaults(definition, index))
  if (invalid.length > 0) throw refusal('(the list of jobs)', invalid)
  refuseDoubles(definitions)
  const byName = new Map<string, Jobs[number]>(definitions.map((definition) => [definition.name, definition]))
  const find = (name: string): Jobs[number] | undefined => byName.get(name)
  return Object.freeze({
    size: byName.size,
    names: Object.freeze([...byName.keys()]),
    get: (name: string) => find(name),
    find,
    has: (name: string) => byName.has(name),
    [Symbol.iterator]: () => byName.values(),
  }) as unknown as JobCatalog<Jobs[number]>
}

function refuseDoubles(definitions: readonly JobDefinition[]): void {
  const names = counted(definitions.map(({ name }) => name))
  const former = counted(definitions.flatMap(({ was }) => (was === undefined ? [] : [was])))
  const doubles = [...names].filter(([, count]) => count > 1)
  const kept = definitions.filter(({ was }) => was !== undefined && (names.has(was) || (former.get(was) ?? 0) > 1))
  const why = (was: string): string => (names.has(was) ? 'is still defined' : 'another job was as well')
  const faults = [
    ...doubles.map(([name, count]) => ({ path: name, message: `expected a name of its own, got it ${count} times` })),
    ...kept.map(({ name, was = '' }) => ({
      path: `${name}.was`,
      message: `expected the name of a job that is gone, got "${was}", which ${why(was)}`,
    })),
  ]
  const [double] = doubles
  if (double !== undefined)
    throw new CronceError('CRONCE_JOB_DUPLICATE', { name: double[0], count: double[1] }, { faults })
  const [present] = kept
  if (present !== undefined) {
    const { name, was = '' } = present
    throw new CronceError('CRONCE_JOB_WAS_PRESENT', { name, was, reason: why(was) }, { faults })
  }
}

function counted(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

function elementFaults(definition: unknown, index: number): readonly Fault[] {
  const at = `[${index}]`
  try {
    if (typeof definition !== 'object' || definition === null)
      return [{ path: at, message: `expected a job made by defineJob, got ${describeValue(definition)}` }]
    const { faults } = parseJobSettings(jobSettings(definition as JobDefinition))
    if (faults !== undefined)
      return faults.map(({ path, message }) => ({ path: path === '' ? at : `${at}.${path}`, message }))
    const { entity } = definition as Partial<JobDefinition>
    if (typeof entity?.parse === 'function' && typeof entity.key === 'function') return []
    return [
      {
        path: `${at}.entity`,
        message: `expected the parse and key that defineJob makes, got ${describeValue(entity)}`,
      },
    ]
  } catch {
    return [{ path: at, message: 'expected a job made by defineJob, got a value that cannot be read' }]
  }
}
