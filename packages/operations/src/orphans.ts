import { DEAD_LETTER_QUEUE } from '@cronce/queue'
import { type KeyOwner, listForgottenJobs, listJobNames, scanKeyOwners } from '@cronce/store'
import type { ServiceAccess } from './access.ts'
import type { Finding } from './finding.ts'
import { shellWord } from './shell-word.ts'

/** Keys of a service that nobody looks after any more. */
export interface Orphans {
  readonly owners: readonly (KeyOwner & {
    /** Of a queue: tasks on it that nobody will run. */
    readonly tasks: number
  })[]
  /** `part`: Redis holds more keys than were looked at. */
  readonly extent: 'whole' | 'part'
}

/** Keys that are looked at: some seconds' worth, of which Redis spends a part. */
const MOST_KEYS = 500_000

/** Owners that are named; nobody goes through more. */
const MOST_NAMED = 50

/** Finds keys of jobs that the service does not know, and of queues that no job names and no worker serves. */
export async function findOrphans(
  { store, enqueuer }: ServiceAccess,
  { servedQueues, jobQueues }: { servedQueues: ReadonlySet<string>; jobQueues: ReadonlySet<string> },
): Promise<Orphans> {
  const { owners, extent } = await scanKeyOwners(store, { most: MOST_KEYS })
  // After the scan: a job that was registered meanwhile is no orphan; nor is one that was removed, whose history is kept.
  const jobs = new Set((await Promise.all([listJobNames(store), listForgottenJobs(store)])).flat())
  const isKnown = ({ kind, name }: KeyOwner) =>
    kind === 'job' ? jobs.has(name) : name === DEAD_LETTER_QUEUE || servedQueues.has(name) || jobQueues.has(name)
  const lost = owners.filter((owner) => !isKnown(owner)).slice(0, MOST_NAMED)
  const tasks = await Promise.all(lost.map(async (owner) => (owner.kind === 'queue' ? await waiting(owner.name) : 0)))
  return { owners: lost.map((owner, index) => ({ ...owner, tasks: tasks[index] ?? 0 })), extent }

  async function waiting(queue: string): Promise<number> {
    const { waiting: ready, active, delayed } = await enqueuer.depth(queue)
    return ready + active + delayed
  }
}

export function findingsOfOrphans({ owners }: Orphans): Finding[] {
  return owners.map(({ kind, name, keys, tasks, pattern }): Finding => {
    const count = `${keys} ${keys === 1 ? 'key' : 'keys'}`
    const forget = `else delete them: redis-cli --scan --pattern ${shellWord(pattern)} | xargs -d '\\n' redis-cli unlink`
    if (kind === 'job') {
      return {
        ...{ level: 'warning', name: 'orphans', text: `${count} of job "${name}", which the service does not know` },
        fix: `register the job again to go on with it; ${forget}`,
      }
    }
    const nobody = `queue "${name}", which no job names and no worker serves`
    return tasks > 0
      ? {
          ...{ level: 'error', name: 'orphans', text: `${tasks} ${tasks === 1 ? 'task' : 'tasks'} on ${nobody}` },
          fix: `start a worker that serves "${name}" until they are done; where they are not wanted, ${forget.slice(5)}`,
        }
      : { ...{ level: 'warning', name: 'orphans', text: `${count} of ${nobody}` }, fix: `serve it again; ${forget}` }
  })
}
