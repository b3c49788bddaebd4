import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ConsoleGround, type ConsoleProcess, openGround, TOKENS } from '../browser/console-ground.ts'
import { waitUntil } from '../support/index.ts'

let ground: ConsoleGround
let opened: ConsoleProcess

beforeAll(async () => {
  ground = await openGround()
  ground.mend()
  opened = await ground.startConsole()
})
afterAll(async () => await ground?.close())

interface Answer {
  readonly status: number
  readonly body: {
    readonly error?: { readonly code: string; readonly state?: string; readonly faults?: readonly { path: string }[] }
    readonly [name: string]: unknown
  }
}

async function ask(
  path: string,
  { as = 'operator', body }: { as?: keyof typeof TOKENS; body?: object } = {},
): Promise<Answer> {
  const headers = { authorization: `Bearer ${TOKENS[as]}`, 'content-type': 'application/json' }
  const init = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) }
  const answer = await fetch(`${opened.url}${path}`, init)
  return { status: answer.status, body: (await answer.json()) as Answer['body'] }
}

const JOB = '/api/jobs/invoice-run'
const RANGE = { from: '2026-03-01', to: '2026-03-04' }

describe('a job', () => {
  it.each([
    ['/slots?count=0', 'count'],
    ['/slots?count=5000', 'count'],
    ['/slots?from=yesterday', 'from'],
    ['/figures?limit=100000', 'limit'],
    ['/backfill/preview?from=2026-02-31&to=2026-03-02', 'from'],
  ])('is asked for what there is, and refuses the rest: %s', async (path, fault) => {
    const { status, body } = await ask(`${JOB}${path}`)
    expect([status, body.error?.code, body.error?.faults?.[0]?.path]).toEqual([400, 'CRONCE_INPUT_INVALID', fault])
  })

  it.each(['/api/jobs/invoice-rum', '/api/jobs/invoice-rum/slots', '/api/jobs/%2e%2e%2fadmin/figures'])(
    'that nobody knows is not found: %s',
    async (path) => {
      const { status, body } = await ask(path)
      expect([status, body.error?.code]).toEqual([404, 'CRONCE_JOB_UNKNOWN'])
    },
  )

  it('answers the same slots whatever the zone of the process and of whoever asks', async () => {
    const elsewhere = await ground.startConsole({ TZ: 'America/New_York' })
    const from = Date.UTC(2026, 9, 24, 12)
    const headers = { authorization: `Bearer ${TOKENS.viewer}` }
    const [here, there] = await Promise.all(
      [opened, elsewhere].map(async ({ url }) => {
        const answer = await fetch(`${url}${JOB}/slots?count=3&from=${from}`, { headers })
        return (await answer.json()) as { slots: unknown }
      }),
    )
    expect(there?.slots).toEqual(here?.slots)
    // The night on which 02:00 comes twice in Berlin.
    expect(here?.slots).toMatchObject([
      {
        slot: 'invoice-run@20261025T000000Z',
        local: '2026-10-25 02:00:00 +02:00',
        note: expect.stringContaining('first'),
      },
      { local: '2026-10-26 02:00:00 +01:00', note: null },
      {},
    ])
  })
})

describe('a slot', () => {
  it('that the schedule never had is refused, and nothing is started', async () => {
    for (const slot of ['20261127T010203Z', 'settlement@20261127T010000Z', 'x', '%252e%252e']) {
      const { status, body } = await ask(`${JOB}/slots/${slot}/run`, { body: {} })
      expect([slot, status >= 400 && status < 500, typeof body.error?.code]).toEqual([slot, true, 'string'])
    }
  })

  it('that has ended is refused with its state, and walked again by an admin only', async () => {
    const path = `${JOB}/slots/${encodeURIComponent(ground.run.slot)}/run`
    const refused = await ask(path, { body: {} })
    expect([refused.status, refused.body.error?.code, refused.body.error?.state]).toEqual([
      409,
      'CRONCE_SLOT_DONE',
      'partial',
    ])
    const forced = await ask(path, { body: { ended: 'walk-again' } })
    expect([forced.status, forced.body.error?.code]).toEqual([403, 'CRONCE_NOT_ALLOWED'])
    expect((await ground.stage.read(ground.run)).version).toBe(1)
    const walked = await ask(path, { as: 'admin', body: { ended: 'walk-again', note: 'ticket 4711' } })
    expect([walked.status, walked.body['status']]).toEqual([200, 'walking'])
    expect((await ground.stage.ended(ground.run, { version: 2 })).state).toBe('succeeded')
  })
})

describe('a backfill', () => {
  it('says what it comes to and changes nothing', async () => {
    const { body } = await ask(`${JOB}/backfill/preview?from=${RANGE.from}&to=${RANGE.to}`, { as: 'viewer' })
    expect(body).toMatchObject({
      slots: 3,
      toRun: 3,
      done: 0,
      first: expect.arrayContaining(['invoice-run@20260301T010000Z']),
    })
    expect((await ask(`${JOB}/backfill`)).body['backfill']).toBeNull()
  })

  it('runs one of a job at a time, slot by slot, and what has run is not run again', async () => {
    const started = await ask(`${JOB}/backfill`, { body: { ...RANGE, rate: '1/h', note: 'ticket 4711', expected: 3 } })
    expect([started.status, started.body['state'], started.body['total']]).toEqual([202, 'running', 3])
    const second = await ask(`${JOB}/backfill`, { body: RANGE })
    expect([second.status, second.body.error?.state]).toEqual([409, 'being backfilled'])
    const hasEnded = (count: number, state: string) => async () => {
      const { backfill } = (await ask(`${JOB}/backfill`)).body as { backfill: { ended: number; state: string } }
      return (backfill.ended === count && backfill.state === state) || undefined
    }
    await waitUntil(hasEnded(1, 'running'), { message: 'one slot has ended' })
    expect((await ask(`${JOB}/backfill/stop`, { body: {} })).status).toBe(200)
    await waitUntil(hasEnded(1, 'stopped'), { message: 'it has stopped' })
    const selection = `${RANGE.from}T00:00:00.000Z to ${RANGE.to}T00:00:00.000Z`
    expect((await ask('/api/actions?job=invoice-run')).body['actions']).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ action: 'backfill', by: 'the-operator', selection, result: 'told to stop' }),
      ]),
    )
    expect((await ask(`${JOB}/backfill/stop`, { body: {} })).status).toBe(409)
    // Whoever looked before sees three to run, and is told that it is another number by now.
    const stale = await ask(`${JOB}/backfill`, { body: { ...RANGE, expected: 3 } })
    expect([stale.status, stale.body.error?.code]).toEqual([409, 'CRONCE_CONSOLE_STALE'])
    expect((await ask(`${JOB}/backfill`, { body: { ...RANGE, expected: 2 } })).status).toBe(202)
    await waitUntil(hasEnded(2, 'ended'), { message: 'the rest has run' })
    expect((await ask(`${JOB}/backfill/preview?from=${RANGE.from}&to=${RANGE.to}`)).body).toMatchObject({
      toRun: 0,
      done: 3,
    })
  })

  it('ends between two slots when the console is told to stop, and another console goes on with it', async () => {
    const [first, second] = [await ground.startConsole(), opened]
    opened = first
    const range = { from: '2026-04-01', to: '2026-04-04' }
    expect((await ask(`${JOB}/backfill`, { body: { ...range, rate: '1/h' } })).status).toBe(202)
    await waitUntil(
      async () => {
        const { backfill } = (await ask(`${JOB}/backfill`)).body as { backfill: { ended: number } }
        return backfill.ended === 1 || undefined
      },
      { message: 'one slot has ended' },
    )
    first.process.signal('SIGTERM')
    expect((await first.process.exited).code).toBe(0)
    opened = second
    const { body } = await ask(`${JOB}/backfill/preview?from=${range.from}&to=${range.to}`)
    expect(body).toMatchObject({ toRun: 2, done: 1 })
  })
})
