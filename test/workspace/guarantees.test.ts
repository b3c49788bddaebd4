import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../support/index.ts'

const PAGE = readFileSync(join(ROOT, 'docs/guarantees.md'), 'utf8')

/** `file` › name, or `file` alone. */
const CITED = [...PAGE.matchAll(/`(test\/[^`]+\.test\.ts)`(?: › ([^|\n]+?))?(?= \||,)/g)].map(
  ([, file = '', name]) => ({
    file,
    name,
  }),
)

describe('the page of guarantees', () => {
  it('names a test for every promise', () => {
    for (let promise = 1; promise <= 9; promise++) expect(PAGE).toMatch(new RegExp(`^## .*\\b${promise}\\. `, 'm'))
    expect(CITED.length).toBeGreaterThan(30)
  })

  it.each(CITED)('finds $file › $name', ({ file, name }) => {
    expect(existsSync(join(ROOT, file))).toBe(true)
    if (name !== undefined) expect(readFileSync(join(ROOT, file), 'utf8')).toContain(name)
  })
})
