import {
  cron,
  defineJob,
  every,
  type JobDefinition,
  type OverlapPolicy,
  type Random,
  type Schedule,
} from '@cronce/core'

/** What a deploy changes is made from this, not from the definitions. */
interface Draft {
  readonly name: string
  readonly schedule: Schedule
  readonly overlap: OverlapPolicy
  readonly mode: 'late' | 'latest' | 'skip'
  readonly withinMs: number
  readonly atMost: number
  readonly attempts: number
  readonly expire: boolean
  readonly was: string | undefined
}

/** The jobs of one image, and the images that follow from it. */
export interface JobMix {
  readonly jobs: readonly JobDefinition[]
  /** The image of the next deploy. */
  edited(): JobMix
}

export const MIX_QUEUES = ['default', 'slow']

/** A few jobs whose schedules and policies the seed chooses. */
export function createJobMix(random: Random): JobMix {
  const drafts = Array.from({ length: 6 + Math.floor(random() * 4) }, (_, index) => newDraft(random, `job-${index}`))
  return mixOf(random, drafts, drafts.length)
}

function mixOf(random: Random, drafts: readonly Draft[], named: number): JobMix {
  return {
    jobs: drafts.map(definitionOf),
    edited() {
      const next = [...drafts]
      let names = named
      for (let edits = 1 + Math.floor(random() * 3); edits > 0; edits--) {
        const index = Math.floor(random() * next.length)
        const old = next[index]
        if (old === undefined) break
        const fresh = newDraft(random, old.name)
        const kind = random()
        if (kind < 0.4) next[index] = { ...old, schedule: fresh.schedule }
        else if (kind < 0.55) next[index] = { ...old, attempts: old.attempts + 1 }
        else if (kind < 0.65) next[index] = { ...fresh }
        else if (kind < 0.75) next.push(newDraft(random, `job-${names++}`))
        else if (kind < 0.85 && next.length > 2) next.splice(index, 1)
        else if (kind < 0.95) next[index] = { ...old, name: `job-${names++}`, was: old.name }
      }
      return mixOf(random, next, names)
    },
  }
}

function newDraft(random: Random, name: string): Draft {
  return {
    name,
    schedule: pick(random, SCHEDULES)(),
    overlap: pick(random, ['allow', 'allow', 'allow', 'skip', 'queue', 'cancel-previous']),
    mode: pick(random, ['late', 'late', 'latest', 'skip']),
    withinMs: pick(random, [60_000, 600_000, 3_600_000]),
    atMost: pick(random, [1, 5, 20]),
    attempts: 1 + Math.floor(random() * 3),
    expire: random() < 0.15,
    was: undefined,
  }
}

const SCHEDULES: readonly (() => Schedule)[] = [
  () => every('10s'),
  () => every('30s'),
  () => every('1m'),
  () => every('7m', { offset: '13s' }),
  () => every('5m', { spread: '2m' }),
  () => cron('* * * * *'),
  () => cron('*/2 * * * *', { zone: 'Europe/Berlin' }),
  () => cron('3-59/5 * * * *'),
  () => cron('*/15 * * * *', { spread: '5m' }),
  () => cron('17 * * * *'),
  () => cron('30 13 * * *', { zone: 'Asia/Kolkata' }),
]

function definitionOf(draft: Draft): JobDefinition {
  const { name, schedule, overlap, mode, withinMs, atMost, attempts, expire, was } = draft
  return defineJob({
    ...{ name, schedule, overlap },
    onCrash: 'complete',
    catchUp: { mode, within: withinMs, atMost },
    retry: { attempts },
    timeout: '1m',
    queue: name.endsWith('1') ? 'slow' : 'default',
    ...(expire ? { tolerance: { start: '20s', finish: '10m' }, expire: '2m' } : {}),
    ...(was === undefined ? {} : { was }),
  })
}

export function pick<Value>(random: Random, values: readonly Value[]): Value {
  const value = values[Math.floor(random() * values.length)]
  if (value === undefined) throw new RangeError('nothing to pick from')
  return value
}
