import { describe, expect, it } from 'vitest'
import type { CronceError } from '../errors/cronce-error.ts'
import { type CronOptions, cron, every, scheduleFaults } from './schedule.ts'
import { nextSlot } from './slots.ts'

function refusal(define: () => unknown): CronceError {
  try {
    define()
  } catch (error) {
    return error as CronceError
  }
  throw new Error('nothing was refused')
}

describe('cron', () => {
  it('defaults to UTC, the end of the gap and the first pass, whatever the host', () => {
    expect(cron(' 30  2 *\t* * ')).toEqual({
      kind: 'cron',
      expression: '30 2 * * *',
      zone: 'UTC',
      missingTime: 'at-gap-end',
      repeatedTime: 'first',
      seconds: false,
      spreadMs: 0,
    })
  })

  it('is plain data: equal after JSON, frozen, without faults', () => {
    const schedule = cron('0 0 2 * * *', {
      zone: 'Europe/Berlin',
      missingTime: 'skip',
      repeatedTime: 'both',
      seconds: true,
      spread: '10m',
    })
    expect(JSON.parse(JSON.stringify(schedule))).toEqual(schedule)
    expect(Object.isFrozen(schedule)).toBe(true)
    expect(scheduleFaults(JSON.parse(JSON.stringify(schedule)))).toEqual([])
    expect(schedule.spreadMs).toBe(600_000)
  })

  it.each([
    ['@yearly', '2027-01-01T00:00:00Z'],
    ['@annually', '2027-01-01T00:00:00Z'],
    ['@monthly', '2026-06-01T00:00:00Z'],
    ['@weekly', '2026-05-17T00:00:00Z'],
    ['@daily', '2026-05-14T00:00:00Z'],
    ['@Midnight', '2026-05-14T00:00:00Z'],
    ['@hourly', '2026-05-13T10:00:00Z'],
  ])('takes the nickname %s, with and without seconds', (nickname, next) => {
    for (const seconds of [false, true]) {
      expect(nextSlot(cron(nickname, { seconds }), Date.parse('2026-05-13T09:31:00Z'))).toBe(Date.parse(next))
    }
  })

  it.each([
    ['', 'got 0: ""'],
    ['   ', 'got 0: ""'],
    ['* *', 'got 2: "* *"'],
    ['20 15 * *', 'expected 5 fields (minute hour day month weekday), got 4: "20 15 * *"'],
    ['15 23 * * 1-5 *', 'got 6'],
    ['* * * * * * 2026', 'got 7'],
    ['0 0 * * * # nightly', 'got 7'],
  ])('refuses %j for its number of fields', (expression, message) => {
    const error = refusal(() => cron(expression))
    expect(error.code).toBe('CRONCE_SCHEDULE_FIELDS')
    expect(error.message).toContain(message)
  })

  it('refuses five fields where six were asked for', () => {
    expect(refusal(() => cron('* * * * *', { seconds: true })).message).toContain(
      'expected 6 fields (second minute hour day month weekday), got 5',
    )
  })

  it('refuses endless text at once', () => {
    expect(refusal(() => cron(`${'1,'.repeat(1e6)}1 * * * *`)).code).toBe('CRONCE_SCHEDULE_FIELDS')
  })

  it.each([
    ['0 5 LW * *', 'day', 'LW', 'LW (the nearest working day) is not supported'],
    ['0 5 15W * *', 'day', '15W', 'W (the nearest working day) is not supported'],
    ['0 5 w * *', 'day', 'w', 'W (the nearest working day) is not supported'],
    ['H * * * *', 'minute', 'H', 'H is not supported'],
    ['H(0-29)/10 * * * *', 'minute', 'H(0-29)/10', 'H is not supported'],
    ['0 12 ? * MON', 'day', '?', '? is not supported, write *'],
    ['0 12 1 * ?', 'weekday', '?', 'Sunday in Quartz'],
    ['60 * * * *', 'minute', '60', 'expected 0-59'],
    ['* 24 * * *', 'hour', '24', 'expected 0-23'],
    ['* * 0 * *', 'day', '0', 'expected 1-31 or L'],
    ['* * 32 * *', 'day', '32', 'expected 1-31 or L'],
    ['* * * 13 *', 'month', '13', 'expected 1-12 or JAN-DEC'],
    ['* * * * 8', 'weekday', '8', 'expected 0-7'],
    ['* * * FOO *', 'month', 'FOO', 'JAN-DEC'],
    ['* * * * MONDAY', 'weekday', 'MONDAY', 'SUN-SAT'],
    ['* * * MON *', 'month', 'MON', 'JAN-DEC'],
    ['0 0 L-3 * *', 'day', 'L-3', 'counted back'],
    ['0 0 5L * *', 'day', '5L', 'only L alone'],
    ['0 0 * * L', 'weekday', 'L', 'read in two ways'],
    ['0 L * * *', 'hour', 'L', 'L belongs in the day field'],
    ['0 0 * * 1#6', 'weekday', '1#6', 'from 1 to 5'],
    ['0 0 * * 1#0', 'weekday', '1#0', 'from 1 to 5'],
    ['0 0 * * 1-5#2', 'weekday', '1-5#2', 'from 1 to 5'],
    ['0 0 * * 1-5L', 'weekday', '1-5L', 'nL in the weekday field'],
    ['0 0 1#2 * *', 'day', '1#2', 'in the weekday field'],
    ['*/0 * * * *', 'minute', '*/0', 'a step is 1 to 60'],
    ['*/90 * * * *', 'minute', '*/90', 'a step is 1 to 60'],
    ['0 */25 * * *', 'hour', '*/25', 'a step is 1 to 24'],
    ['1/ * * * *', 'minute', '1/', 'expected 0-59'],
    ['1/2/3 * * * *', 'minute', '1/2/3', 'expected 0-59'],
    ['*-5 * * * *', 'minute', '*-5', 'from a value to a value'],
    ['1-2-3 * * * *', 'minute', '1-2-3', 'expected 0-59'],
    ['-1 * * * *', 'minute', '-1', 'expected 0-59'],
    ['1.5 * * * *', 'minute', '1.5', 'expected 0-59'],
    ['+1 * * * *', 'minute', '+1', 'expected 0-59'],
    ['1,,2 * * * *', 'minute', '', 'no empty items'],
    ['** * * * *', 'minute', '**', 'expected 0-59'],
    ['*5 * * * *', 'minute', '*5', 'expected 0-59'],
    ['٥ * * * *', 'minute', '٥', 'expected 0-59'],
    ['* * * * *\n5', 'weekday', '*\n5', 'expected 0-7'],
    ['* * * * __proto__', 'weekday', '__proto__', 'expected 0-7'],
    ['TZ=UTC * * * * *', 'first', 'TZ=UTC', "zone: 'UTC'"],
    ['CRON_TZ=Asia/Tokyo * * * * *', 'first', 'CRON_TZ=Asia/Tokyo', "zone: 'Asia/Tokyo'"],
  ])('refuses %j by name: %s %s', (...[expression, field, token, reason]) => {
    const error = refusal(() => cron(expression))
    expect(error.code).toBe('CRONCE_SCHEDULE_TOKEN')
    expect(error.fields).toMatchObject({ field, token })
    expect(error.message).toContain(reason)
    expect(error.faults).toEqual([{ path: 'expression', message: error.message }])
  })

  it('refuses second 60', () => {
    expect(refusal(() => cron('60 * * * * *', { seconds: true })).fields).toMatchObject({
      field: 'second',
      token: '60',
    })
  })

  it.each([
    ['@reboot', 'a start of the process is not a slot'],
    ['@every 5m', 'every("15m")'],
    ['@dayly', 'did you mean @daily?'],
    ['@sometimes', 'write the five fields out'],
    ['@toString', 'write the five fields out'],
  ])('refuses the nickname %s', (expression, reason) => {
    const error = refusal(() => cron(expression))
    expect(error.code).toBe('CRONCE_SCHEDULE_NICKNAME')
    expect(error.message).toContain(reason)
  })

  it.each(['0 0 30 2 *', '0 0 31 4,6 *', '0 0 31 2,4,6,9,11 *', '0 0 31 4 *', '0 0 */3 2 1#5', '0 0 31 feb-FEB *'])(
    'refuses %s, which never occurs, within 100 ms',
    (expression) => {
      const before = process.cpuUsage()
      expect(refusal(() => cron(expression)).code).toBe('CRONCE_SCHEDULE_NEVER')
      // Of this process's own time: a busy machine is no fault of the search.
      expect(process.cpuUsage(before).user).toBeLessThan(100_000)
    },
  )

  it.each([
    ['0 0 31 4,5 *', '2026-05-31T00:00:00Z'],
    ['0 0 30 2 1', '2026-02-02T00:00:00Z'],
    ['0 0 * 2 1#5', '2044-02-29T00:00:00Z'],
  ])('takes %s, which does', (expression, next) => {
    expect(nextSlot(cron(expression), Date.parse('2026-01-01T00:00:00Z'))).toBe(Date.parse(next))
  })

  it('has every fault at once', () => {
    const options = {
      tz: 'UTC',
      zone: 'Mars/Base',
      missingTime: 'later',
      repeatedTime: 1,
      seconds: 'no',
      spread: '2d',
    } as unknown as CronOptions
    const error = refusal(() => cron('60 * * * X', options))
    expect(error.code).toBe('CRONCE_SCHEDULE_INVALID')
    expect(error.faults.map(({ path }) => path)).toEqual([
      'tz',
      'seconds',
      'zone',
      'missingTime',
      'repeatedTime',
      'spread',
      'expression',
      'expression',
    ])
    expect(error.message).toContain('8 faults')
    expect(error.message).toContain('got "tz", did you mean zone?')
  })

  it.each([undefined, null, 5, {}, [], '1'])('refuses options or an expression that are %j', (odd) => {
    if (typeof odd !== 'string') expect(refusal(() => cron(odd as never)).code).toBe('CRONCE_SCHEDULE_VALUE')
    if (odd !== undefined && (typeof odd !== 'object' || odd === null || Array.isArray(odd))) {
      expect(refusal(() => cron('* * * * *', odd as never)).code).toBe('CRONCE_SCHEDULE_VALUE')
    }
  })

  it.each([
    ['90s', 90_000],
    [1_000, 1_000],
    ['24h', 86_400_000],
  ])('takes a spread of %s', (spread, spreadMs) => {
    expect(cron('0 0 * * *', { spread }).spreadMs).toBe(spreadMs)
  })

  it.each(['1500ms', '25h', '-1s', '', 1.5])('refuses a spread of %j', (spread) => {
    expect(refusal(() => cron('0 0 * * *', { spread })).fields).toMatchObject({ path: 'spread' })
  })
})

describe('every', () => {
  it('is anchored to the epoch', () => {
    expect(every('15m', { offset: '5m', spread: '1m' })).toEqual({
      kind: 'every',
      periodMs: 900_000,
      offsetMs: 300_000,
      spreadMs: 60_000,
    })
    expect(nextSlot(every('7h'), 0)).toBe(25_200_000)
  })

  it.each([
    ['999ms', {}, 'period', 'at least 1s'],
    [0, {}, 'period', 'at least 1s'],
    ['1500ms', {}, 'period', 'whole seconds'],
    ['5', {}, 'period', 'a duration'],
    ['1m', { offset: '1m' }, 'offset', 'less than the period'],
    ['1m', { offset: '500ms' }, 'offset', 'whole seconds'],
    ['1m', { spread: '61s' }, 'spread', 'at most the period'],
  ])('refuses %s with %j', (...[period, options, path, expected]) => {
    const error = refusal(() => every(period, options))
    expect(error.code).toBe('CRONCE_SCHEDULE_VALUE')
    expect(error.fields).toMatchObject({ path })
    expect(error.message).toContain(expected)
  })

  it('refuses an option that it does not have', () => {
    expect(refusal(() => every('1m', { jitter: '5s' } as never)).message).toContain('did you mean spread?')
  })
})

describe('scheduleFaults', () => {
  const good = {
    kind: 'cron',
    expression: '0 2 * * *',
    zone: 'UTC',
    missingTime: 'skip',
    repeatedTime: 'first',
    seconds: false,
    spreadMs: 0,
  }

  it('finds none in what cron() and every() made', () => {
    expect(scheduleFaults(good)).toEqual([])
    expect(scheduleFaults(every('5m'))).toEqual([])
  })

  it.each([
    [undefined, ['']],
    [null, ['']],
    ['0 2 * * *', ['']],
    [[good], ['']],
    [{}, ['kind']],
    [{ kind: 'rrule' }, ['kind']],
    [{ ...good, zone: undefined }, ['zone']],
    [{ ...good, zone: null }, ['zone']],
    [{ ...good, zone: 'Nowhere/Land', expression: '0 25 * * *' }, ['zone', 'expression']],
    [{ ...good, spreadMs: -1, extra: 1 }, ['extra', 'spreadMs']],
    [{ ...good, seconds: 0 }, ['seconds']],
    [{ ...good, expression: { toString: (): string => '* * * * *' } }, ['expression']],
    [{ kind: 'every', periodMs: Number.NaN, offsetMs: 0, spreadMs: 0 }, ['periodMs']],
    [{ kind: 'every', periodMs: '5m', offsetMs: 0, spreadMs: 0 }, ['periodMs']],
    [{ kind: 'every', periodMs: 5_000 }, ['offsetMs', 'spreadMs']],
    [{ kind: 'every', periodMs: 5_000, offsetMs: 5_000, spreadMs: 0 }, ['offsetMs']],
  ])('names the faults of %j without throwing', (input, paths) => {
    expect(scheduleFaults(input).map(({ path }) => path)).toEqual(paths)
  })

  it('calls an object that throws when it is read no schedule', () => {
    const throwing = {
      get kind(): string {
        throw new Error('no')
      },
    }
    expect(scheduleFaults(throwing)).toHaveLength(1)
  })
})
