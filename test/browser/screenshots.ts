// Pictures of every view at two widths, light and dark: `npm run screenshots -- <folder>`.
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { startRedis } from '../support/index.ts'
import { openBrowser, openPage, signIn } from './browser-ground.ts'
import { buildPage, startConsoleProcess, TOKENS } from './console-process.ts'
import { openShownService } from './shown-service.ts'

const WIDTHS = [1280, 400] as const
const COLORS = ['light', 'dark'] as const

const folder = resolve(process.argv[2] ?? join(tmpdir(), 'cronce-screenshots'))

/** Where the pictures are taken; `ready` is what must be there first. */
interface Scene {
  readonly name: string
  readonly place: string
  readonly ready: string
  /** What is pressed before the picture. */
  readonly act?: (page: Page) => Promise<void>
}

function scenesOf(running: string): readonly Scene[] {
  const job = (name: string, part = '') => `#/jobs/${name}${part}`
  return [
    { name: 'schedules', place: '#/', ready: '.row .strip' },
    {
      name: 'schedules-tip',
      place: '#/',
      ready: '.row .strip',
      act: (page) => page.locator('.strip a.partial').first().focus(),
    },
    { name: 'runs', place: '#/runs', ready: 'main table' },
    { name: 'run-running', place: `#/runs/${encodeURIComponent(running)}`, ready: '.timeline' },
    { name: 'dead', place: '#/dead', ready: 'main table' },
    {
      name: 'dead-letter',
      place: '#/dead',
      ready: 'main table',
      act: async (page) => {
        await page.locator('main table a.name').first().click()
        await page.locator('main pre').first().waitFor()
      },
    },
    { name: 'job', place: job('usage-rollup'), ready: '.u-over' },
    { name: 'job-overdue', place: job('settlement'), ready: '.u-over' },
    { name: 'job-next', place: job('partner-export', '/next?count=100'), ready: '.notice' },
    { name: 'job-definition', place: job('retention', '/definition'), ready: '.generations' },
    { name: 'job-backfill', place: job('daily-digest', '/backfill?from=2026-01-05&to=2026-02-01'), ready: '.panel dl' },
    {
      name: 'job-act',
      place: job('invoice-run'),
      ready: '.u-over',
      act: (page) => page.getByRole('button', { name: 'Pause…' }).click(),
    },
    { name: 'replicas', place: '#/replicas', ready: 'main table' },
    { name: 'audit', place: '#/audit?hours=744', ready: 'section[aria-label="Sums"] table' },
  ]
}

const redis = await startRedis()
const shown = await openShownService(redis)
await buildPage()
const opened = await startConsoleProcess({ redis, service: shown.service })
const browser = await openBrowser()
const faults: string[] = []
try {
  await mkdir(folder, { recursive: true })
  for (const width of WIDTHS) {
    for (const colors of COLORS) {
      const watched = await openPage(browser, { url: opened.url, width, colors })
      const { page } = watched
      await signIn(page, { url: opened.url, token: TOKENS.admin })
      for (const { name, place, ready, act } of scenesOf(shown.running)) {
        await page.goto(`${opened.url}/${place}`)
        await page.locator(ready).first().waitFor()
        await act?.(page)
        await page.screenshot({ path: join(folder, `${name}-${width}-${colors}.png`), fullPage: true })
      }
      faults.push(...watched.faults)
      await page.context().close()
    }
  }
  const signedOut = await openPage(browser, { url: opened.url, width: 400, colors: 'light' })
  await signedOut.page.goto(opened.url)
  await signedOut.page.getByLabel('Token').waitFor()
  await signedOut.page.screenshot({ path: join(folder, 'sign-in-400-light.png') })
} finally {
  await browser.close()
  await opened.process.kill()
  await shown.close()
  await redis.stop()
}
console.log(folder)
for (const fault of faults) console.error(fault)
process.exitCode = faults.length === 0 ? 0 : 1
