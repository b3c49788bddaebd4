import {
  type CronceError,
  isCronceError,
  type JobDefinition,
  jobCatalog,
  type ScheduleWarning,
  scheduleWarnings,
  tzdataVersion,
} from '@cronce/core'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { type Definitions, loadDefinitions } from '../definitions.ts'
import { isRedisConfigured } from '../target.ts'
import { definitionLines, settingsJson } from '../text/definition-text.ts'
import type { ServerCheck } from './check-server.ts'

/** One thing that is wrong, by the path of what it is in. */
interface CheckError {
  readonly path: string
  readonly message: string
}

/** `check`: validates every definition, and the server where one is configured. */
export async function check(context: Context): Promise<Answer> {
  const definitions = await loadDefinitions({ module: context.global.jobs, folder: context.folder })
  const errors = errorsOf(definitions)
  const sound = errors.length === 0 ? definitions.jobs : []
  const warnings = scheduleWarnings(sound.map(scheduled), { from: context.clock.now() })
  const server = await serverOf(context)
  const isUnsafe = server.findings.some(({ level }) => level === 'error')
  const ending = server.error === undefined ? (isUnsafe ? 'found' : 'well') : 'unreachable'
  return {
    json: {
      jobs: sound.map(settingsJson),
      errors,
      warnings,
      tzdata: tzdataVersion(),
      redis: server.json,
      findings: server.findings,
      ...(server.error === undefined ? {} : { error: { code: server.error.code, message: server.error.message } }),
    },
    text: () => [
      ...definitionLines({ jobs: sound, warnings, errors, terminal: context.terminal }),
      sum({ definitions, errors, warnings }),
      ...server.lines,
    ],
    exit: errors.length > 0 ? 'found' : ending,
  }
}

/** Loaded only where it is needed: definitions are checked without a client of Redis. */
async function serverOf(context: Context): Promise<ServerCheck> {
  if (!isRedisConfigured(context)) return { json: null, findings: [], lines: [] }
  return await (await import('./check-server.ts')).checkServer(context)
}

/** Of one that was refused, of the list as a whole, or none. */
function errorsOf({ jobs, refused }: Definitions): CheckError[] {
  const ofRefused = refused.flatMap(({ message, faults }) =>
    faults.length === 0
      ? [{ path: '', message }]
      : faults.map((fault) => ({ path: pathOf(message, fault.path), message: fault.message })),
  )
  return [...ofRefused, ...(refused.length > 0 ? [] : errorsOfList(jobs))]
}

/** `job "nightly": schedule.zone`: the name is in the message of the refusal. */
function pathOf(message: string, path: string): string {
  const name = /^job "(.*?)" is refused/.exec(message)?.[1]
  return name === undefined ? path : [name, path].filter((part) => part !== '').join(': ')
}

function errorsOfList(jobs: readonly JobDefinition[]): CheckError[] {
  try {
    jobCatalog(jobs)
    return []
  } catch (error) {
    if (!isCronceError(error)) throw error
    return ownFaults(error)
  }
}

function ownFaults({ message, faults }: CronceError): CheckError[] {
  return faults.length === 0
    ? [{ path: '', message }]
    : faults.map((fault) => ({ path: fault.path, message: fault.message }))
}

function scheduled({ name, schedule, timeoutMs, tolerance }: JobDefinition) {
  return { name, schedule, timeoutMs, toleranceStartMs: tolerance.startMs, toleranceFinishMs: tolerance.finishMs }
}

function sum(found: {
  definitions: Definitions
  errors: readonly CheckError[]
  warnings: readonly ScheduleWarning[]
}): string {
  const { definitions, errors, warnings } = found
  const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
  const sums = [count(definitions.jobs.length, 'job'), count(errors.length, 'error'), count(warnings.length, 'note')]
  return ` ${sums.join(', ')}   tzdata ${tzdataVersion()}`
}
