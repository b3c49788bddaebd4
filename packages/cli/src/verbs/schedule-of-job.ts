import { CronceError, nearestName, type Schedule } from '@cronce/core'
import type { Context } from '../context.ts'
import { loadDefinitions } from '../definitions.ts'

/**
 * The schedule of a job by name, from the definitions at hand.
 *
 * @throws CronceError CRONCE_JOB_UNKNOWN, CRONCE_JOBS_MODULE
 */
export async function scheduleOfJob(context: Context, name: string): Promise<Schedule> {
  const { jobs, module } = await loadDefinitions({ module: context.global.jobs, folder: context.folder })
  const job = jobs.find((each) => each.name === name)
  if (job !== undefined) return job.schedule
  const nearest = nearestName(
    name,
    jobs.map((each) => each.name),
  )
  const suggestion = nearest === undefined ? '' : `, did you mean "${nearest}"?`
  throw new CronceError('CRONCE_JOB_UNKNOWN', { owner: module, name, suggestion })
}
