import { execFileSync } from 'node:child_process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { cron, nextSlot } from '@cronce/core'
import { CronExpressionParser } from 'cron-parser'
import { Cron } from 'croner'

/** How often the engines take turns; odd, for the median. */
const ROUNDS = 7

/** How long one engine runs in one turn. */
const TURN_MS = 25

/** How many new processes each engine gets. */
const COLD_ROUNDS = 5

const START_MS = Date.parse('2026-01-01T00:00:00Z')

const ENGINES = ['cronce', 'croner', 'cron-parser'] as const

type Engine = (typeof ENGINES)[number]

/** Does some work of one kind and returns how many slots it computed. */
type Turn = () => number

interface Course {
  readonly name: string
  readonly turns: Readonly<Record<Engine, Turn>>
}

export interface SlotsBench {
  readonly bench: 'slots'
  readonly unit: 'slots/s'
  readonly node: string
  readonly tzdata: string
  readonly rows: readonly SlotsBenchRow[]
  /** Milliseconds to the first slot of a new process, the loading of the modules not counted. */
  readonly firstSlotMs: Readonly<Record<Engine, number>>
}

export interface SlotsBenchRow {
  readonly name: string
  readonly perSecond: Readonly<Record<Engine, number>>
  readonly timesCroner: number
  readonly timesCronParser: number
}

/** Slots per second, side by side with croner and cron-parser in one process; `--json` prints one object. */
export async function main(args: readonly string[]): Promise<void> {
  const cold = ENGINES.find((engine) => args[0] === `--cold=${engine}`)
  if (cold !== undefined) {
    process.stdout.write(`${coldMs(cold)}\n`)
    return
  }
  const rows = COURSES.map((course) => measure(course()))
  const result: SlotsBench = {
    bench: 'slots',
    unit: 'slots/s',
    node: process.version,
    tzdata: process.versions.tz ?? '',
    rows,
    firstSlotMs: measureCold(),
  }
  process.stdout.write(args.includes('--json') ? `${JSON.stringify(result)}\n` : table(result))
}

/** Each slot asked for from the one before it, starting afresh after a while. */
function walk(name: string, expression: string, zone: string): Course {
  const steps = 200
  const schedule = cron(expression, { zone })
  const croner = new Cron(expression, { timezone: zone })
  const parser = CronExpressionParser.parse(expression, { tz: zone, currentDate: new Date(START_MS) })
  return {
    name: `${name}: ${expression} ${zone}`,
    turns: {
      cronce: () => {
        let at = START_MS
        for (let step = 0; step < steps; step += 1) at = nextSlot(schedule, at) as number
        return steps
      },
      croner: () => {
        let at = new Date(START_MS)
        for (let step = 0; step < steps; step += 1) at = croner.nextRun(at) as Date
        return steps
      },
      'cron-parser': () => {
        parser.reset(new Date(START_MS))
        for (let step = 0; step < steps; step += 1) parser.next()
        return steps
      },
    },
  }
}

/** One slot per question, each from another instant: what a replica asks on a tick. */
function ask(name: string, expression: string, zone: string): Course {
  const instants = Array.from({ length: 200 }, (_, index) => START_MS + ((index * 7919) % 8760) * 3_600_000 + 1)
  const schedule = cron(expression, { zone })
  const croner = new Cron(expression, { timezone: zone })
  const parser = CronExpressionParser.parse(expression, { tz: zone })
  return {
    name: `${name}: ${expression} ${zone}`,
    turns: {
      cronce: () => {
        for (const instant of instants) nextSlot(schedule, instant)
        return instants.length
      },
      croner: () => {
        for (const instant of instants) croner.nextRun(new Date(instant))
        return instants.length
      },
      'cron-parser': () => {
        for (const instant of instants) {
          parser.reset(new Date(instant))
          parser.next()
        }
        return instants.length
      },
    },
  }
}

/** Parses an expression and computes one slot. */
const FIRST_SLOT: Readonly<Record<Engine, (expression: string, zone: string) => void>> = {
  cronce: (expression, zone) => nextSlot(cron(expression, { zone }), START_MS),
  croner: (expression, zone) => new Cron(expression, { timezone: zone }).nextRun(new Date(START_MS)),
  'cron-parser': (expression, zone) =>
    CronExpressionParser.parse(expression, { tz: zone, currentDate: new Date(START_MS) }).next(),
}

/** An expression never seen before, parsed and asked once. */
function first(name: string, zones: readonly string[]): Course {
  let serial = 0
  const unseen = () => {
    serial += 1
    return `${serial % 60} ${Math.floor(serial / 60) % 24} ${1 + (Math.floor(serial / 1440) % 28)} ${1 + (Math.floor(serial / 40_320) % 12)} *`
  }
  const next =
    (answer: (expression: string, zone: string) => void): Turn =>
    () => {
      for (let turn = 0; turn < 20; turn += 1) answer(unseen(), zones[serial % zones.length] ?? 'UTC')
      return 20
    }
  return {
    name,
    turns: {
      cronce: next(FIRST_SLOT.cronce),
      croner: next(FIRST_SLOT.croner),
      'cron-parser': next(FIRST_SLOT['cron-parser']),
    },
  }
}

const NEW_YORK = 'America/New_York'

const COURSES: readonly (() => Course)[] = [
  () => walk('walk, typical', '*/5 * * * *', 'UTC'),
  () => walk('walk, typical', '30 2 * * *', 'UTC'),
  () => walk('walk, typical', '0 9 * * 1-5', NEW_YORK),
  () => walk('walk, typical', '30 2 * * *', NEW_YORK),
  () => walk('walk, typical', '*/15 * * * *', NEW_YORK),
  () => ask('ask, typical', '30 2 * * *', NEW_YORK),
  () => ask('ask, typical', '*/15 * * * *', NEW_YORK),
  () => ask('ask, typical', '0 0 * * *', 'UTC'),
  () => ask('ask, monthly', '0 0 1 * *', NEW_YORK),
  () => ask('ask, yearly', '1 2 1 4 *', 'UTC'),
  () => ask('ask, yearly', '1 2 1 4 *', NEW_YORK),
  () => ask('ask, leap day', '0 0 29 2 *', 'UTC'),
  () => ask('ask, leap day', '0 0 29 2 *', NEW_YORK),
  () => first('first call, UTC', ['UTC']),
  () => first('first call, New York', [NEW_YORK]),
  () => first('first call, 100 zones', Intl.supportedValuesOf('timeZone').slice(0, 100)),
]

/** The engines take turns, so that a busy moment of the machine strikes all alike. */
function measure({ name, turns }: Course): SlotsBenchRow {
  const rates: Record<Engine, number[]> = { cronce: [], croner: [], 'cron-parser': [] }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const engine of ENGINES) rates[engine].push(rateOf(turns[engine]))
  }
  const perSecond = {
    cronce: median(rates.cronce),
    croner: median(rates.croner),
    'cron-parser': median(rates['cron-parser']),
  }
  return {
    name,
    perSecond,
    timesCroner: ratio(perSecond.cronce, perSecond.croner),
    timesCronParser: ratio(perSecond.cronce, perSecond['cron-parser']),
  }
}

function rateOf(turn: Turn): number {
  const startedAt = performance.now()
  let slots = 0
  let elapsedMs = 0
  while (elapsedMs < TURN_MS) {
    slots += turn()
    elapsedMs = performance.now() - startedAt
  }
  return Math.round((slots / elapsedMs) * 1000)
}

/** The first slot that this process computes. */
function coldMs(engine: Engine): number {
  const startedAt = performance.now()
  FIRST_SLOT[engine]('30 2 * * 1-5', NEW_YORK)
  return performance.now() - startedAt
}

/** Each engine in processes of its own, in turns: a module that was never called is slow the first time. */
function measureCold(): Readonly<Record<Engine, number>> {
  const times: Record<Engine, number[]> = { cronce: [], croner: [], 'cron-parser': [] }
  for (let round = 0; round < COLD_ROUNDS; round += 1) {
    for (const engine of ENGINES) {
      const args = [...process.execArgv, fileURLToPath(import.meta.url), `--cold=${engine}`]
      times[engine].push(Number(execFileSync(process.execPath, args, { encoding: 'utf8' })))
    }
  }
  const round = (engine: Engine) => Math.round(median(times[engine]) * 10) / 10
  return { cronce: round('cronce'), croner: round('croner'), 'cron-parser': round('cron-parser') }
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0
}

function ratio(rate: number, other: number): number {
  return Math.round((rate / other) * 10) / 10
}

function table({ rows, firstSlotMs, node, tzdata }: SlotsBench): string {
  const line = (name: string, cells: readonly string[]) =>
    `${name.padEnd(52)}${cells.map((cell) => cell.padStart(13)).join('')}\n`
  const body = rows.map(({ name, perSecond, timesCroner, timesCronParser }) => {
    return line(name, [
      ...ENGINES.map((engine) => perSecond[engine].toLocaleString('en-US')),
      `${timesCroner} x`,
      `${timesCronParser} x`,
    ])
  })
  return `slots per second, median of ${ROUNDS} turns   node ${node}   tzdata ${tzdata}\n${line('', [...ENGINES, '/ croner', '/ cron-parser'])}${body.join('')}${line(
    'first slot of a new process, ms',
    ENGINES.map((engine) => String(firstSlotMs[engine])),
  )}`
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  await main(process.argv.slice(2))
