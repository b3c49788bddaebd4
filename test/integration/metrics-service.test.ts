import { cron, type JobInput } from '@cronce/core'
import { createServiceMetrics } from '@cronce/metrics/service'
import { pauseJob, resumeJob, type ServiceAccess, upsertJob } from '@cronce/operations'
import { describe, expect, it } from 'vitest'
import { OPERATOR } from '../support/by-hand.ts'
import { readExposition } from '../support/exposition.ts'
import { type Fleet } from '../support/fleet.ts'
import { standOnGround } from '../support/operations-ground.ts'

const MINUTE = 60_000

let fleet: Fleet
let access: ServiceAccess
standOnGround('metrics', (ground) => {
  ;({ fleet, access } = ground)
})

const job = (name: string, extra: object = {}): JobInput => ({
  ...{ name, schedule: cron('*/10 * * * *'), onCrash: 'complete', overlap: 'allow', tolerance: { start: '1m' } },
  ...extra,
})
const upsert = (input: JobInput) => upsertJob(access, { job: input, operator: OPERATOR })

/** Samples of a metric, as `labels value` without the service's. */
async function read(metric: string): Promise<string[]> {
  const samples = readExposition(await createServiceMetrics(access).text()).get(metric)?.samples ?? []
  return samples.map(({ labels: { service_name: service, ...labels }, value }) => {
    expect(service).toBe(fleet.store.service)
    return [...Object.values(labels), value].join(' ')
  })
}

describe('the metrics of a service', () => {
  it('say what is overdue and what has not ended after a period, also of a job that no replica fires any more', async () => {
    await upsert(job('digest'))
    await fleet.join('a', [])
    await fleet.advance(10 * MINUTE, 30_000)
    expect(await read('cronce_overdue_slots')).toEqual(['digest start 0', 'digest finish 0'])
    expect(await read('cronce_unended_slots')).toEqual(['digest 0'])
    expect(await read('cronce_queue_depth')).toEqual(['default waiting 1', 'default active 0', 'default delayed 0'])
    expect(await read('cronce_queue_workers')).toEqual(['default 0'])
    expect(await read('cronce_live_processes')).toEqual(['replica unknown 1'])
    // The replica stands still from here on: two more slots, which nobody claims, and one that nobody starts.
    fleet.clock.advance(21 * MINUTE + 1_000)
    expect(await read('cronce_overdue_slots')).toEqual(['digest start 3', 'digest finish 0'])
    expect(await read('cronce_unended_slots')).toEqual(['digest 2'])
  })

  it('say what was dropped and why, in few words, and forget what is over', async () => {
    await upsert(job('digest'))
    await fleet.join('a', [])
    await pauseJob(access, {
      job: 'digest',
      operator: OPERATOR,
      note: 'overlap: expired: a note that reads like a reason',
    })
    await fleet.advance(31 * MINUTE, 30_000)
    expect(await read('cronce_paused')).toEqual(['digest 1'])
    expect(await read('cronce_overdue_slots')).toEqual(['digest start 0', 'digest finish 0'])
    await resumeJob(access, { job: 'digest', operator: OPERATOR })
    await fleet.advance(MINUTE, 30_000)
    expect(await read('cronce_paused')).toEqual(['digest 0'])
    expect(await read('cronce_recent_drops')).toEqual(['digest skipped paused 3'])
  })

  it('have one label for the jobs beyond the first thousand, and leave out no overdue slot of theirs', async () => {
    const names = Array.from({ length: 1_002 }, (_, index) => `tenant-${String(index).padStart(4, '0')}`)
    await Promise.all(names.map((name) => upsert(job(name, { schedule: cron('0 0 1 1 *') }))))
    await upsert(job('z-late'))
    fleet.clock.advance(11 * MINUTE + 1_000)
    const overdue = await read('cronce_overdue_slots')
    expect(overdue.filter((line) => !line.endsWith(' 0'))).toEqual(['other start 1'])
    expect(overdue).toHaveLength(2 * 1_001)
    expect((await read('cronce_dead_letters')).filter((line) => line.startsWith('other'))).toEqual(['other 0'])
  })

  it('are read once for those who ask at the same time, and anew for who comes later', async () => {
    await upsert(job('digest'))
    const metrics = createServiceMetrics(access)
    const [one, other] = await Promise.all([metrics.text(), metrics.text()])
    expect(one).toBe(other)
    await upsert(job('report'))
    expect(await metrics.text()).toContain('job_name="report"')
    expect(one).not.toContain('report')
  })
})
