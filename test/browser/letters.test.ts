import { countDeadLetters, readDeadLetter } from '@cronce/store'
import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeNeeding, waitUntil } from '../support/index.ts'
import { entityOf, writeManyLetters } from '../support/many-letters.ts'
import { openBrowser, openPage, signIn, type WatchedPage } from './browser-ground.ts'
import { type ConsoleGround, type ConsoleProcess, HOSTILE, openGround, TOKENS } from './console-ground.ts'

const DIED_AT = Date.UTC(2026, 0, 1)
const MANY = 450

describeNeeding(['chromium', 'redis-server'], 'dead letters in a browser', () => {
  let ground: ConsoleGround
  let opened: ConsoleProcess
  let browser: Browser
  let admin: WatchedPage
  let many: readonly string[]
  const pages: WatchedPage[] = []

  const open = async (role: keyof typeof TOKENS): Promise<WatchedPage> => {
    const watched = await openPage(browser, { url: opened.url })
    pages.push(watched)
    await signIn(watched.page, { url: opened.url, token: TOKENS[role] })
    return watched
  }
  const show = async (page: Page, query = '') => {
    await page.goto(`${opened.url}/#/dead${query}`)
    await page.getByRole('heading', { name: 'Dead letters' }).waitFor()
  }
  const rows = (page: Page) => page.locator('tbody tr')
  const isOpen = async (id: string) => (await readDeadLetter(ground.stage.store, 'invoice-run', id))?.state
  const openOnes = () => countDeadLetters(ground.stage.store, 'invoice-run')

  beforeAll(async () => {
    ground = await openGround()
    const message = (index: number) => (index < 200 ? 'HTTP 404 no such account' : 'HTTP 503 busy')
    const payload = (id: string) => ({ id, note: '' })
    many = await writeManyLetters(ground.stage.store, ground.run, { count: MANY, fromAt: DIED_AT, message, payload })
    opened = await ground.startConsole()
    browser = await openBrowser()
    admin = await open('admin')
  })
  afterAll(async () => {
    await browser?.close()
    await ground?.close()
  })

  it('are filtered by job, run, error text and time, and paged', async () => {
    const { page } = admin
    await show(page)
    await page.getByText(`${MANY + HOSTILE.length} open`).waitFor()
    expect(await rows(page).count()).toBe(50)
    await page.getByRole('link', { name: 'Older' }).click()
    await page.getByRole('link', { name: 'Newest' }).waitFor()
    expect(await rows(page).first().textContent()).toContain(entityOf(MANY - 1 - (50 - HOSTILE.length)))
    await page.getByLabel('Error contains').fill('HTTP 404')
    await page.getByLabel('Died from (UTC)').fill('2026-01-01T00:00')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByText(entityOf(199), { exact: true }).waitFor()
    expect(await page.locator('td.error').allTextContents()).toSatisfy((texts: string[]) =>
      texts.every((text) => text.includes('HTTP 404')),
    )
    await page.getByLabel('before').fill('2026-01-01T00:00')
    await page.getByLabel('Died from (UTC)').fill('')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByText('No open dead letter is like that.').waitFor()
  })

  it('show a hostile payload and entity as text, the newest error first', async () => {
    const { page } = admin
    const [entity] = HOSTILE
    await show(page)
    await page.getByRole('link', { name: entity }).click()
    await page.getByText('document.title').waitFor()
    expect(await page.locator('main img, main script').count()).toBe(0)
    expect(await page.title()).not.toBe('taken')
    expect(await page.locator('.kept').first().textContent()).toContain(`HTTP 402 <b>for</b> ${entity}`)
  })

  it('are discarded one by one, with a note that stays', async () => {
    const { page } = admin
    await show(page, '?error=HTTP+402')
    await page.getByLabel('Tick plain').check()
    await page.getByRole('button', { name: 'Discard 1 letter…' }).click()
    await page.getByText('1 letter of 1 run').waitFor()
    const id = many[0]?.replace(entityOf(0), 'plain') ?? ''
    expect(await isOpen(id)).toBe('open')
    await page.getByLabel('Note').fill('<i>closed</i>')
    await page.getByRole('button', { name: 'Discard 1 letter', exact: true }).click()
    await page.getByText('1 discarded').waitFor()
    expect(await readDeadLetter(ground.stage.store, 'invoice-run', id)).toMatchObject({
      state: 'discarded',
      discardReason: '<i>closed</i>',
    })
    await page.getByText('by the-admin: <i>closed</i>').waitFor()
    expect(await openOnes()).toBe(MANY + HOSTILE.length - 1)
  })

  it('are redriven one by one, and a stale tab is told what became of them', async () => {
    const { page } = admin
    const stale = await open('operator')
    await show(page, '?error=HTTP+402')
    await show(stale.page, '?error=HTTP+402')
    ground.mend()
    for (const each of [page, stale.page]) {
      await each.getByLabel(`Tick ${HOSTILE[1]}`).check()
      await each.getByRole('button', { name: 'Redrive 1 letter…' }).click()
      await each.getByText('1 letter of 1 run').waitFor()
    }
    await page.getByRole('button', { name: 'Redrive 1 letter', exact: true }).click()
    await page.getByText('1 queued again').first().waitFor()
    const id = many[0]?.replace(entityOf(0), encodeURIComponent(HOSTILE[1]).replaceAll('%2F', '/')) ?? ''
    await waitUntil(async () => (await isOpen(id)) === 'resolved', { message: `the end of ${id}` })
    const { done } = (await ground.stage.read(ground.run)).entities
    await stale.page.getByRole('button', { name: 'Redrive 1 letter', exact: true }).click()
    await stale.page.getByRole('alert').getByText('is resolved by now').waitFor()
    expect((await ground.stage.read(ground.run)).entities.done).toBe(done)
  })

  it('that match a filter are redriven together, by a preview, at a rate, with progress; it goes on without a tab', async () => {
    const { page } = await open('operator')
    await show(page, '?error=HTTP+404')
    await page.getByRole('button', { name: 'Choose all that match' }).click()
    expect(await page.getByRole('button', { name: 'Discard all that match…' }).isDisabled()).toBe(true)
    const before = await openOnes()
    await page.getByRole('button', { name: 'Redrive all that match…' }).click()
    await page.getByText('200 letters of 1 run').waitFor()
    expect(await openOnes()).toBe(before)
    await page.getByLabel('At most').fill('50/s')
    await page.getByRole('button', { name: 'Redrive 200 letters' }).click()
    await page.getByText(/redrive (50|100) of 200 letters/).waitFor()
    await page.close()
    await waitUntil(async () => (await openOnes()) === before - 200, { message: 'the rest', timeoutMs: 15_000 })
    await show(admin.page)
    await admin.page.getByText('200 queued again').waitFor()
    await admin.page.getByText('error="HTTP 404", by the-operator, at most 50/s').waitFor()
  })

  it('are discarded together by an admin, who stops in the middle and goes on', async () => {
    const { page } = admin
    await show(page, '?error=HTTP+503')
    await page.getByRole('button', { name: 'Choose all that match' }).click()
    await page.getByRole('button', { name: 'Discard all that match…' }).click()
    await page.getByLabel('Note').fill('it is over')
    await page.getByLabel('At most').fill('20/s')
    await page.getByRole('button', { name: 'Discard 250 letters' }).click()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('left: the same again goes on with them').waitFor()
    const left = await openOnes()
    expect(left).toBeGreaterThan(100)
    await page.getByRole('button', { name: 'Choose all that match' }).click()
    await page.getByRole('button', { name: 'Discard all that match…' }).click()
    await page.getByLabel('Note').fill('it is over')
    await page.getByRole('button', { name: /^Discard \d+ letters$/ }).click()
    await page.getByText('No open dead letter is like that.').waitFor()
    expect(await openOnes()).toBe(HOSTILE.length - 2)
    expect(await readDeadLetter(ground.stage.store, 'invoice-run', many.at(-1) ?? '')).toMatchObject({
      state: 'discarded',
      discardReason: 'it is over',
    })
  })

  it('are chosen and redriven by keyboard, with nothing that axe calls serious while all of it is open', async () => {
    const { page } = await open('operator')
    await show(page)
    await page.getByLabel(`Tick ${HOSTILE[2]}`).focus()
    await page.keyboard.press('Space')
    await page.getByRole('button', { name: 'Redrive 1 letter…' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('1 letter of 1 run').waitFor()
    await page.evaluate(axe.source)
    const { violations } = await page.evaluate<{ violations: { id: string; impact: string }[] }>(
      "axe.run(document, { resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'best-practice'] })",
    )
    expect(violations.filter(({ impact }) => ['serious', 'critical'].includes(impact)).map(({ id }) => id)).toEqual([])
    const before = await openOnes()
    for (const key of ['Tab', 'Tab', 'Tab']) {
      await page.keyboard.press(key)
      if (await page.locator('button[type=submit].main:focus').count()) break
    }
    await page.keyboard.press('Enter')
    await waitUntil(async () => (await openOnes()) === before - 1, { message: 'one less' })
  })

  it('offer a viewer nothing to tick', async () => {
    const { page } = await open('viewer')
    await show(page)
    await rows(page).first().waitFor()
    expect(await page.getByRole('checkbox').count()).toBe(0)
    expect(await page.getByRole('button', { name: /redrive|discard/i }).count()).toBe(0)
  })

  it('hide of a payload what the definition hides, until an admin has it revealed', async () => {
    const { redis, service } = ground.stage
    const key = `cronce:{${service}:job:invoice-run}:job`
    const stored = JSON.parse((await redis.hget(key, 'settings')) ?? '{}') as object
    await redis.hset(key, 'settings', JSON.stringify({ ...stored, redact: ['note'] }))
    const id = many.at(-1) ?? ''
    const viewer = await open('viewer')
    await viewer.page.goto(`${opened.url}/#/dead/${encodeURIComponent(id)}`)
    await viewer.page.getByText('an admin can have it shown').waitFor()
    expect(await viewer.page.locator('pre').first().textContent()).toContain('"[redacted]"')
    const { page } = admin
    await page.goto(`${opened.url}/#/dead/${encodeURIComponent(id)}`)
    await page.getByLabel('Why').fill('ticket 4711')
    await page.getByRole('button', { name: 'Reveal' }).click()
    await page.getByText('the journal will say').waitFor({ state: 'detached' })
    expect(await page.locator('pre').first().textContent()).toContain('"note": ""')
    await page.goto(`${opened.url}/#/audit`)
    await page.getByText('ticket 4711').waitFor()
  })

  it('left no error in the console of any page, and asked no other host', () => {
    expect(pages.length).toBeGreaterThan(3)
    expect(pages.flatMap(({ faults }) => faults)).toEqual([])
  })
})
