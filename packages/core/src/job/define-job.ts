import { CronceError, type Fault } from '../errors/cronce-error.ts'
import { describeValue } from '../errors/describe-value.ts'
import { deepFreeze } from './deep-freeze.ts'
import { SINGLE_ENTITY } from './entity-field.ts'
import { asRecord } from './fields.ts'
import { type JobDefinition, jobSettings } from './job-definition.ts'
import type { JobInput } from './job-input.ts'
import { relationFaults } from './job-relations.ts'
import { plainCopy, withoutPaths } from './plain-copy.ts'
import { parseWritten, withDefaults } from './written-fields.ts'

/** The summary of an error has this many faults; `faults` has them all. */
const SUMMARY_FAULTS = 3

/**
 * Defines a job: what runs, when, and by which policies. The result is frozen plain data and the shape of its entities;
 * the handler is bound to it in the worker.
 *
 * @throws CronceError CRONCE_JOB_INVALID, whose `faults` has every fault of the definition; nothing else.
 * @example
 * export const invoiceRun = defineJob({
 *   name: 'invoice-run',
 *   schedule: cron('0 2 * * *', { zone: 'Europe/Berlin' }),
 *   onCrash: 'complete',
 *   entity: { schema: z.object({ accountId: z.string() }), key: (account) => account.accountId },
 * })
 */
export function defineJob<const Name extends string, Entity = undefined>(
  input: JobInput<Name, Entity>,
): JobDefinition<Name, Entity> {
  const copy = plainCopy(input, ['entity.schema'])
  const record = asRecord(copy.value)
  if (record === undefined) {
    const message = `expected an object that describes a job, got ${describeValue(input)}`
    throw refusal(undefined, [...copy.faults, { path: '', message }])
  }
  const { name } = record
  const { values, faults } = parseWritten(record)
  // A property that could not be read is missing in the copy: one fault of it is enough.
  const found = [...copy.faults, ...faults.filter(({ path }) => !copy.faults.some((unread) => unread.path === path))]
  const foreign = foreignWorkerFaults(record)
  const settings = withDefaults(found.length === 0 ? values : parseWritten(withoutPaths(record, found)).values)
  const all = [...found, ...relationFaults(settings, found, 'written'), ...foreign]
  if (all.length > 0) throw refusal(name, all)
  const definition = { ...deepFreeze(jobSettings(settings)), entity: values.entity ?? SINGLE_ENTITY }
  return Object.freeze(definition) as JobDefinition<Name, Entity>
}

/** What has no meaning where another worker runs the job. */
function foreignWorkerFaults(record: Readonly<Record<string, unknown>>): readonly Fault[] {
  if (record['enqueue'] === undefined) return []
  return [
    {
      path: 'entity',
      message: 'expected none with enqueue: the job is placed for another worker, which plans nothing',
    },
    { path: 'queue', message: 'expected none with enqueue, which names its own queue' },
    { path: 'limit', message: 'expected none with enqueue: the limits of another worker are its own' },
  ].flatMap(({ path, message }) =>
    record[path] === undefined ? [] : [{ path, message: `${message}, got ${describeValue(record[path])}` }],
  )
}

/** The error that stands for all faults of one definition. */
export function refusal(name: unknown, faults: readonly Fault[]): CronceError {
  const shown = faults
    .slice(0, SUMMARY_FAULTS)
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  const more = faults.length > SUMMARY_FAULTS ? `; and ${faults.length - SUMMARY_FAULTS} more` : ''
  const fields = {
    // Escaped as in any message: a refused name may hold anything.
    name: typeof name === 'string' ? describeValue(name).slice(1, -1) : '(without a name)',
    count: faults.length,
    summary: shown.join('; ') + more,
  }
  return new CronceError('CRONCE_JOB_INVALID', fields, { faults })
}
