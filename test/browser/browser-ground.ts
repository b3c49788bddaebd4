import { type Browser, chromium, type Page } from 'playwright-core'
import { chromiumBinary } from '../support/index.ts'

// In a container there is no sandbox to have, and nothing is to be fetched from anywhere.
const FLAGS = [
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-extensions',
  '--disable-sync',
  '--no-first-run',
]

export async function openBrowser(): Promise<Browser> {
  const executablePath = chromiumBinary()
  if (executablePath === undefined) throw new Error('no Chromium')
  return await chromium.launch({ executablePath, args: FLAGS })
}

/** A page, and everything about it that must not be. */
export interface WatchedPage {
  readonly page: Page
  /** Errors of the console, of scripts and of the content policy, and requests to another host. */
  readonly faults: readonly string[]
}

export interface PageOptions {
  readonly url: string
  readonly width?: number
  readonly colors?: 'light' | 'dark'
}

export async function openPage(browser: Browser, options: PageOptions): Promise<WatchedPage> {
  const { url, width = 1280, colors = 'light' } = options
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: colors,
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  const faults: string[] = []
  const { host } = new URL(url)
  page.on('pageerror', (error) => faults.push(`script: ${error.message}`))
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('console', (message) => {
    // What a refused request leaves there is what the tests of refusals want.
    const isRefusal = /status of 40[139]/.test(message.text())
    if (['error', 'warning'].includes(message.type()) && !isRefusal) faults.push(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    if (new URL(request.url()).host !== host) faults.push(`request: ${request.url()}`)
  })
  return { page, faults }
}

/** Signs in as people do who have no link. */
export async function signIn(page: Page, { url, token }: { url: string; token: string }): Promise<void> {
  await page.goto(url)
  await page.getByLabel('Token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Schedules' }).waitFor()
}
