import { cron, defineJob, every, systemClock } from '@cronce/core'
import { registerJob } from '@cronce/store'
import { createTrigger } from '@cronce/trigger'
import { handle } from '@cronce/worker'
import axe from 'axe-core'
import { pino } from 'pino'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { describeNeeding } from '../support/index.ts'
import { openBrowser, openPage, signIn, type WatchedPage } from './browser-ground.ts'
import { type ConsoleGround, type ConsoleProcess, openGround, TOKENS } from './console-ground.ts'

/** Would be markup, a path out of its folder and an address, were it taken for one. */
const HOSTILE_NAME = 'eu/../<b>daily</b>?#%2F'

const gated = defineJob({
  name: 'gated',
  schedule: every('1h'),
  onCrash: 'complete',
  entity: { schema: z.object({ id: z.number() }), key: ({ id }) => `n-${id}` },
  chunk: { size: 10 },
  // Of its own: a worker without the code for a task hands it round, and that takes seconds.
  queue: 'gated',
})

const edited = (expression: string) =>
  defineJob({
    name: HOSTILE_NAME,
    schedule: cron(expression, { zone: 'America/New_York' }),
    onCrash: 'skip',
    queue: 'nobody',
    description: '<i>markup</i>',
  })

const DAY_MS = 86_400_000

describeNeeding(['chromium', 'redis-server'], 'a job in the console', () => {
  let ground: ConsoleGround
  let opened: ConsoleProcess
  let browser: Browser
  let admin: WatchedPage
  let openGate: () => void = () => undefined
  const pages: WatchedPage[] = []

  const newPage = async (role: keyof typeof TOKENS, width = 1280): Promise<WatchedPage> => {
    const watched = await openPage(browser, { url: opened.url, width })
    pages.push(watched)
    await signIn(watched.page, { url: opened.url, token: TOKENS[role] })
    return watched
  }
  const goTo = async (page: Page, place: string) => {
    await page.goto(`${opened.url}/#/${place}`)
  }
  const jobPlace = (name: string, rest = '') => `jobs/${encodeURIComponent(name)}${rest}`

  beforeAll(async () => {
    ground = await openGround()
    const gate = new Promise<void>((resolve) => (openGate = resolve))
    const work = handle(gated, {
      entities: ({ after = '0', limit }) => {
        const [from, until] = [Number(after), Math.min(35, Number(after) + limit)]
        const entities = Array.from({ length: until - from }, (_, index) => ({ id: from + index }))
        return { entities, next: until < 35 ? String(until) : null }
      },
      each: async ({ id }) => {
        if (id >= 10) await gate
      },
    })
    await ground.stage.work([work], { queues: { gated: 4 } })
    await registerJob(ground.stage.store, gated, { by: 'pod-1' })
    // Two images, one after the other: an edit.
    for (const [id, expression] of Object.entries({ 'pod-1': '30 2 * * *', 'pod-2': '45 3 * * *' })) {
      const { service } = ground.stage
      const common = { service, redis: ground.redis.url, logger: pino({ level: 'silent' }) }
      const trigger = createTrigger({ ...common, jobs: [edited(expression)], id })
      await trigger.prepare()
      await trigger.stop()
    }
    opened = await ground.startConsole()
    browser = await openBrowser()
    admin = await newPage('admin')
  })
  afterAll(async () => {
    openGate()
    await browser?.close()
    await ground?.close()
  })

  it('shows how late and how long its runs were, drawn and as a table, and every slot', async () => {
    const { page } = admin
    await page.getByRole('link', { name: 'invoice-run', exact: true }).click()
    await page.locator('.u-over').nth(1).waitFor()
    expect(new URL(page.url()).hash).toBe('#/jobs/invoice-run')
    await page.getByText('The same as a table').click()
    const row = page.getByRole('region', { name: 'Figures' }).getByRole('row').nth(1)
    expect(await row.textContent()).toMatch(new RegExp(`${ground.run.slot.replaceAll('+', '\\+')}partial`))
    const slots = page.getByRole('region', { name: 'Slots' })
    expect(await slots.getByRole('row').nth(1).textContent()).toMatch(/1 of 5 done, 4 dead/)
    await page.getByLabel('State').selectOption('missed')
    await slots.getByText('No slot is like that.').waitFor()
    expect(page.url()).toContain('state=missed')
  })

  it('previews the slots to come as the trigger sees them, with what a night without 02:00 makes of one', async () => {
    const { page } = admin
    await goTo(page, jobPlace('invoice-run', `/next?count=20&from=${Date.UTC(2027, 2, 26, 12)}`))
    const rows = page.getByRole('table').getByRole('row')
    await rows.nth(3).waitFor()
    expect(await rows.nth(1).textContent()).toContain('2027-03-27 02:00:00 +01:002027-03-27 01:00:00Z')
    expect(await rows.nth(2).textContent()).toMatch(
      /2027-03-28 03:00:00 \+02:002027-03-28 01:00:00Z.*02:00 does not exist that night/,
    )
    expect(await rows.nth(3).textContent()).toContain('2027-03-29 02:00:00 +02:002027-03-29 00:00:00Z')
    await page.getByText('02:00 does not exist: runs at 03:00 CEST (01:00Z)').waitFor()
    await page.getByRole('link', { name: 'Later' }).click()
    await page.getByText('2027-04-16 02:00:00 +02:00').waitFor()
  })

  it('says what it is, and what an edit changed, whatever its name is', async () => {
    const { page } = admin
    await goTo(page, '')
    await page.getByRole('link', { name: HOSTILE_NAME, exact: true }).click()
    await page.getByRole('link', { name: 'Definition and edits' }).click()
    await page.getByText('45 3 * * * in America/New_York').waitFor()
    const edits = page.locator('.generations li')
    await edits.first().getByText('in force').waitFor()
    expect(await page.locator('.changes-list').textContent()).toBe('schedule.expression: "30 2 * * *" → "45 3 * * *"')
    expect(await page.locator('main b b, main i').count()).toBe(0)
    await page.getByText('As JSON').click()
    expect(JSON.parse(String(await page.locator('pre').textContent()))).toMatchObject({ name: HOSTILE_NAME })
  })

  it('is run by hand with a reason, and leads to the run, which tells chunk by chunk how far it is', async () => {
    const { page } = admin
    await goTo(page, jobPlace('gated'))
    await page.getByRole('button', { name: 'Run now…' }).click()
    await page.getByLabel('Why').fill('ticket <b>4711</b>')
    await page.getByRole('button', { name: 'Run now', exact: true }).click()
    await page.locator('.outcome a').click()
    await page.getByText('1 of 4 closed; the plan is complete').waitFor()
    const chunks = page.getByRole('region', { name: 'Chunks' })
    expect(await chunks.getByRole('row').count()).toBe(4)
    const facts = String(await page.locator('.facts').textContent())
    expect(facts).toMatch(/Causemanual.*Whyticket <b>4711<\/b>.*Claimed bythe-admin/)
    expect(await page.getByRole('region', { name: 'Logs' }).textContent()).toContain('"slot":"gated@')
    openGate()
    // Nobody asks for it: the page is told that the run has changed.
    await page.locator('.lead').getByText('succeeded').waitFor()
    await page.getByText('4 of 4 closed').waitFor()
    expect(await chunks.getByRole('row').count()).toBe(0)
  })

  it('refuses a slot that is done, and walks it again only for an admin who has confirmed', async () => {
    const { page } = await newPage('operator')
    for (const each of [page, admin.page]) {
      await goTo(each, jobPlace('invoice-run', `?slot=${encodeURIComponent(ground.run.slot)}`))
      await each.getByRole('button', { name: 'Run this slot' }).click()
      await each.getByText('It has ended.').waitFor()
      expect(await each.getByRole('alert').textContent()).toContain('already partial')
    }
    expect(await page.getByRole('button', { name: 'Walk it again' }).count()).toBe(0)
    const again = admin.page.getByRole('button', { name: 'Walk it again' })
    expect(await again.isDisabled()).toBe(true)
    await admin.page.getByLabel('I know what its effects are').check()
    ground.mend()
    await again.click()
    await admin.page.locator('.outcome').getByText('started').waitFor()
    const entry = await ground.stage.ended(ground.run, { version: 2 })
    expect(entry).toMatchObject({ state: 'succeeded', entities: { done: 5, dead: 0 } })
  })

  it('is backfilled: what it comes to first, then slot by slot; stopped in the middle, and gone on with', async () => {
    const { page } = await newPage('operator')
    const today = Math.floor(systemClock.now() / DAY_MS) * DAY_MS
    const [from, to] = [today - 9 * DAY_MS, today - 3 * DAY_MS].map((at) => new Date(at).toISOString().slice(0, 10))
    await goTo(page, jobPlace('invoice-run', '/backfill'))
    await page.getByLabel('From').fill(String(from))
    await page.getByLabel('To, without it').fill(String(to))
    await page.getByLabel('At most').fill('1/h')
    await page.getByRole('button', { name: 'See what it comes to' }).click()
    expect(await page.getByRole('region', { name: 'Preview' }).locator('.facts').textContent()).toContain('To run6')
    await page.getByLabel('Why').fill('the bank was shut')
    await page.getByRole('button', { name: 'Run 6 slots' }).click()
    const progress = page.getByRole('region', { name: 'Progress' })
    // The second waits an hour for its turn.
    await progress.getByText('1 of 6 slots').waitFor()
    await progress.getByText('waits for its turn').waitFor()
    await progress.getByRole('button', { name: 'Stop' }).click()
    await progress.getByText('5 slots left.').waitFor()
    await page.getByRole('link', { name: 'Go on with the same range' }).click()
    await page.getByRole('button', { name: 'Run 5 slots' }).click()
    await progress.getByText('5 of 5 slots').waitFor()
    await page.getByText('Done already').waitFor()
    expect(await page.getByRole('region', { name: 'Preview' }).locator('.facts').textContent()).toMatch(
      /To run0.*already6/,
    )
    expect(await page.getByRole('button', { name: 'Run 0 slots' }).isDisabled()).toBe(true)
    const twice = await page.evaluate(
      async ([first, last]) => {
        const headers = { 'x-cronce-console': '1', 'content-type': 'application/json' }
        const body = JSON.stringify({ from: first, to: last, expected: 6 })
        const answer = await fetch('/api/jobs/invoice-run/backfill', { method: 'POST', headers, body })
        return [answer.status, ((await answer.json()) as { error: { state: string } }).error.state]
      },
      [from, to],
    )
    expect(twice).toEqual([409, 'another range: 0 slots would run, not 6'])
  })

  it('shows a viewer everything and nothing to press', async () => {
    const { page } = await newPage('viewer')
    await goTo(page, jobPlace('invoice-run'))
    await page.locator('.u-over').first().waitFor()
    for (const name of ['Run now…', 'Pause…', 'Run a slot…']) {
      expect(await page.getByRole('button', { name }).count(), name).toBe(0)
    }
    await goTo(page, jobPlace('invoice-run', '/backfill?from=2026-01-01&to=2026-01-03'))
    await page.getByText('To run them needs the role operator.').waitFor()
    expect(await page.getByRole('button', { name: /^Run/ }).count()).toBe(0)
  })

  it('is audited, and the journal has who changed what, and why', async () => {
    const { page } = admin
    await goTo(page, 'audit?hours=24')
    const sums = page.getByRole('region', { name: 'Sums' })
    await sums.getByRole('row', { name: /^invoice-run/ }).waitFor()
    expect(await sums.getByRole('status').textContent()).toContain('adds up')
    const journal = page.getByRole('region', { name: 'Journal' })
    await journal.getByText('run-slot').first().waitFor()
    const text = String(await journal.textContent())
    for (const part of [
      'the-admin',
      'console, operator',
      'backfill',
      'the bank was shut',
      '1 succeeded, 0 elsewhere, 5 left',
    ])
      expect(text).toContain(part)
    await journal.getByLabel('Who').fill('the-operator')
    await journal.getByRole('button', { name: 'Filter' }).click()
    await page.waitForURL(/who=the-operator/)
    await expect.poll(() => journal.textContent()).not.toContain('the-admin')
  })

  it('is served by nobody: the queue says so', async () => {
    const { page } = admin
    await goTo(page, 'replicas')
    const row = page.getByRole('row', { name: /^nobody/ })
    expect(await row.textContent()).toContain(HOSTILE_NAME)
    expect(await page.getByRole('row', { name: /^default/ }).textContent()).toMatch(/1 worker, 4 places/)
  })

  it('is reached by keyboard alone, which goes on in the new view', async () => {
    const { page } = admin
    await goTo(page, 'runs')
    await page.getByRole('table').waitFor()
    await page.locator('header nav a').first().focus()
    await page.keyboard.press('Shift+Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.id')).toBe('main')
    expect(new URL(page.url()).hash).toBe('#/runs')
    await page
      .getByRole('link', { name: /^invoice-run@/ })
      .first()
      .focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'What happened' }).waitFor()
    expect(await page.evaluate('document.activeElement.id')).toBe('main')
  })

  it('has no serious fault of accessibility and no sideways scrolling in any view, wide or narrow, light or dark', async () => {
    const narrow = (await newPage('admin', 400)).page
    await narrow.emulateMedia({ colorScheme: 'dark' })
    const places = [
      ...['', 'runs', 'dead', 'replicas', 'audit', `runs/${encodeURIComponent(ground.run.slot)}`],
      ...['', '/next', '/definition', '/backfill?from=2026-11-01&to=2026-11-05'].map((part) =>
        jobPlace('invoice-run', part),
      ),
      jobPlace(HOSTILE_NAME, '/definition'),
    ]
    const found: string[] = []
    // What the colours and the width do not change is the same in both.
    const looks = [
      [admin.page, ['wcag2a', 'wcag2aa', 'best-practice']],
      [narrow, ['color-contrast']],
    ] as const
    for (const [page, rules] of looks) {
      // Once: another view is no other document.
      await page.evaluate(axe.source)
      for (const place of places) {
        await goTo(page, place)
        await page.locator('main table, main .row .strip, main dl, main .empty').first().waitFor()
        const { violations } = await page.evaluate<{
          violations: { id: string; impact: string; nodes: { html: string }[] }[]
        }>(`axe.run(document, { resultTypes: ['violations'], runOnly: ${JSON.stringify(rules)} })`)
        const serious = violations.filter(({ impact }) => ['serious', 'critical'].includes(impact))
        found.push(...serious.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${place} ${id} ${html}`)))
        const { width, scrolled } = await page.evaluate<{ width: number; scrolled: number }>(
          '({ width: innerWidth, scrolled: document.documentElement.scrollWidth })',
        )
        expect(scrolled, place).toBeLessThanOrEqual(width)
      }
    }
    expect(found).toEqual([])
  })

  it('left no error in the console of any page, and asked no other host', () => {
    expect(pages.length).toBeGreaterThan(3)
    expect(pages.flatMap(({ faults }) => faults)).toEqual([])
  })
})
