import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeNeeding, waitUntil } from '../support/index.ts'
import { openBrowser, openPage, signIn, type WatchedPage } from './browser-ground.ts'
import { type ConsoleGround, type ConsoleProcess, HOSTILE, openGround, TOKENS } from './console-ground.ts'

describeNeeding(['chromium', 'redis-server'], 'the console in a browser', () => {
  let ground: ConsoleGround
  let opened: ConsoleProcess
  let browser: Browser
  let operator: WatchedPage
  const pages: WatchedPage[] = []

  const newPage = async (options: { width?: number; colors?: 'dark' } = {}): Promise<WatchedPage> => {
    const watched = await openPage(browser, { url: opened.url, ...options })
    pages.push(watched)
    return watched
  }

  beforeAll(async () => {
    ground = await openGround()
    opened = await ground.startConsole()
    browser = await openBrowser()
    operator = await newPage()
  })
  afterAll(async () => {
    await browser?.close()
    await ground?.close()
  })

  it('is entered by the link that the process logs, which works once', async () => {
    const { page } = operator
    await page.goto(opened.signInUrl)
    await page.getByRole('heading', { name: 'Schedules' }).waitFor()
    expect(new URL(page.url()).search).toBe('')
    const other = await newPage()
    await other.page.goto(opened.signInUrl)
    await other.page.getByText('The sign-in link works once').waitFor()
  })

  it('shows first which job is overdue, and why, in words', async () => {
    const { page } = operator
    const first = page.getByRole('listitem').first()
    await first.getByText('no worker serves queue "finance"').waitFor()
    expect(await first.getAttribute('aria-label')).toBe('settlement')
    expect(await first.textContent()).toMatch(/not started, overdue .*-0[45]:00.*Z/)
    expect(await page.locator('.answer .bad').first().textContent()).toContain('1 overdue')
  })

  it('is used by keyboard: Tab reaches the slots, arrows go through them, Enter opens the run', async () => {
    const { page } = operator
    await page.getByRole('link', { name: 'invoice-run', exact: true }).focus()
    for (let presses = 0; presses < 4; presses++) {
      await page.keyboard.press('Tab')
      if (await page.locator('.strip a:focus').count()) break
    }
    await page.keyboard.press('Home')
    const tip = page.getByRole('tooltip')
    expect(await tip.textContent()).toContain(ground.run.slot)
    expect(await tip.textContent()).toMatch(/partial.*1 of 5 done, 4 dead/)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'What happened' }).waitFor()
    expect(await page.locator('main').textContent()).toContain('claimed')
  })

  it('shows a hostile dead letter as text, and redrives it', async () => {
    const { page } = operator
    const [entity] = HOSTILE
    await page.getByRole('link', { name: 'Dead letters', exact: true }).click()
    await page.getByRole('link', { name: entity }).click()
    await page.getByText('document.title').waitFor()
    expect(await page.locator('main img, main script').count()).toBe(0)
    expect(await page.locator('.kept').textContent()).toContain(`HTTP 402 <b>for</b> ${entity}`)
    ground.mend()
    await page.getByRole('button', { name: 'Redrive' }).click()
    await page.getByText('It is resolved.').waitFor()
    const run = await waitUntil(
      async () => {
        const entry = await ground.stage.read(ground.run)
        return entry.entities.done === 2 ? entry : undefined
      },
      { message: 'the redriven entity counts as done' },
    )
    expect(run.entities).toMatchObject({ done: 2, dead: 3 })
  })

  it('pauses a job with a note, and resumes it', async () => {
    const { page } = operator
    await page.getByRole('link', { name: 'Schedules' }).click()
    const row = page.getByRole('listitem', { name: 'invoice-run' })
    await row.getByText('Act', { exact: true }).click()
    expect(await row.getByRole('button', { name: 'Pause' }).isDisabled()).toBe(true)
    await row.getByLabel('Note').fill('<i>bank is shut</i>')
    await row.getByRole('button', { name: 'Pause' }).click()
    await row.getByText('by console: <i>bank is shut</i>').waitFor()
    await row.getByRole('button', { name: 'Resume' }).click()
    await row.getByText('resuming').waitFor()
  })

  it('offers a viewer nothing to press, and the server refuses what the page does not offer', async () => {
    const { page } = await newPage()
    await signIn(page, { url: opened.url, token: TOKENS.viewer })
    await page.getByRole('listitem').first().waitFor()
    expect(await page.getByText('Act', { exact: true }).count()).toBe(0)
    const status = await page.evaluate(async () => {
      const headers = { 'x-cronce-console': '1', 'content-type': 'application/json' }
      const answer = await fetch('/api/jobs/invoice-run/run', { method: 'POST', headers, body: '{}' })
      return answer.status
    })
    expect(status).toBe(403)
  })

  it('needs no sideways scrolling at 400 px, in any view', async () => {
    const { page } = await newPage({ width: 400, colors: 'dark' })
    await signIn(page, { url: opened.url, token: TOKENS.operator })
    const views = ['#/', '#/audit', '#/runs', `#/runs/${encodeURIComponent(ground.run.slot)}`, '#/dead', '#/replicas']
    await page.goto(`${opened.url}/#/dead`)
    const letter = await page.getByRole('link', { name: HOSTILE[2] }).getAttribute('href')
    for (const view of [...views, String(letter)]) {
      await page.goto(`${opened.url}/${view}`)
      await page.locator('main .row, main table, main dl, main .bar').first().waitFor()
      const width = await page.evaluate<number>('document.documentElement.scrollWidth')
      expect(width, view).toBeLessThanOrEqual(400)
    }
  })

  it('left no error in the console of any page, and asked no other host', () => {
    expect(pages.length).toBeGreaterThan(3)
    expect(pages.flatMap(({ faults }) => faults)).toEqual([])
  })
})
