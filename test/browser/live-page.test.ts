import { gzipSync } from 'node:zlib'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeNeeding } from '../support/index.ts'
import { openBrowser, openPage, signIn, type WatchedPage } from './browser-ground.ts'
import { type ConsoleGround, type ConsoleProcess, openGround, TOKENS } from './console-ground.ts'
import { startConsoleProcess } from './console-process.ts'

describeNeeding(['chromium', 'redis-server'], 'a page that is left open', () => {
  let ground: ConsoleGround
  let opened: ConsoleProcess
  let browser: Browser

  const newPage = async (): Promise<WatchedPage> => {
    const watched = await openPage(browser, { url: opened.url })
    await signIn(watched.page, { url: opened.url, token: TOKENS.operator })
    return watched
  }
  const pause = async (note: string) => {
    const headers = { authorization: `Bearer ${TOKENS.operator}`, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify({ note }) }
    expect((await fetch(`${opened.url}/api/jobs/settlement/pause`, init)).status).toBe(200)
  }
  const resume = async () => {
    const headers = { authorization: `Bearer ${TOKENS.operator}`, 'content-type': 'application/json' }
    await fetch(`${opened.url}/api/jobs/settlement/resume`, { method: 'POST', headers, body: '{}' })
  }
  const rowOf = (page: Page) => page.getByRole('listitem', { name: 'settlement' })

  beforeAll(async () => {
    ground = await openGround()
    opened = await ground.startConsole()
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await ground?.close()
  })

  it('takes less than 100 kB of compressed script and style at first', async () => {
    const { page } = await openPage(browser, { url: opened.url })
    const sizes: Promise<number>[] = []
    page.on('response', (response) => {
      if (/\.(js|css)$/.test(new URL(response.url()).pathname))
        sizes.push(response.body().then((body) => gzipSync(body).length))
    })
    await signIn(page, { url: opened.url, token: TOKENS.viewer })
    await page.getByRole('listitem').first().waitFor()
    const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
    expect(sizes.length).toBeGreaterThan(1)
    expect(total).toBeLessThan(100_000)
    await page.context().close()
  })

  it('is told what changes, over one stream, and leaves no error', async () => {
    const { page, faults } = await newPage()
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.reload()
    await page.getByText('live', { exact: true }).waitFor()
    await pause('told over the stream')
    await rowOf(page).getByText('told over the stream').waitFor()
    await page.getByRole('link', { name: 'Runs', exact: true }).click()
    await page.getByRole('table').waitFor()
    expect(asked.filter((path) => path === '/api/live')).toHaveLength(1)
    expect(faults).toEqual([])
    await page.context().close()
  })

  it('asks every two seconds where no stream comes through, and says so', async () => {
    const { page } = await newPage()
    await page.route('**/api/live', (route) => route.abort())
    await page.reload()
    await page.getByText('polling', { exact: true }).waitFor()
    await resume()
    await rowOf(page).getByText('resuming').waitFor()
    await page.context().close()
  })

  it('says that Redis is away, keeps what it had, and goes on by itself when Redis is back', async () => {
    const { page } = await newPage()
    await page.getByText('live', { exact: true }).waitFor()
    await ground.redis.kill()
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').textContent()).toContain('CRONCE_REDIS_UNREACHABLE')
    expect(await rowOf(page).count()).toBe(1)
    await ground.redis.restart()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await page.context().close()
  })

  it('says that the console is away, and asks to sign in when another one has come', async () => {
    const { page } = await newPage()
    const { port } = new URL(opened.url)
    await opened.process.kill()
    await page.getByText('the console does not answer').waitFor()
    const { redis, stage } = ground
    const next = await startConsoleProcess({ redis, service: stage.service, env: { PORT: port } })
    // Sessions are the process's own.
    await page.getByLabel('Token').waitFor()
    await page.getByLabel('Token').fill(TOKENS.operator)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Schedules' }).waitFor()
    await page.context().close()
    await next.process.kill()
  })
})
