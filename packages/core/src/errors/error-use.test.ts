import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { ERRORS, type ErrorCode } from './catalogue.ts'

/** Codes whose raising part is not written yet. Shrinks to nothing; never grows. */
const AWAITED: readonly string[] = [
  'CRONCE_CONFIG_INVALID',
  'CRONCE_ENTITY_TIMEOUT',
  'CRONCE_FENCED_OFF',
  'CRONCE_JOB_UNKNOWN',
  'CRONCE_REDIS_UNREACHABLE',
]

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const sources = ['packages', 'apps']
  .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(root, folder, name, 'src')))
  .filter((folder) => existsSync(folder))
  .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)))
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.includes(join('core', 'src', 'errors')))
  .map((file) => ({ file: file.slice(root.length), text: readFileSync(file, 'utf8') }))

interface Raising {
  readonly file: string
  readonly code: string
  /** The literal of fields, braces included; undefined where it is not written in place. */
  readonly fields: string | undefined
}

const raisings: readonly Raising[] = sources.flatMap(({ file, text }) =>
  [...text.matchAll(/new CronceError\(\s*'(\w+)'(,\s*(?=\{))?/g)].map((match) => ({
    file,
    code: match[1] ?? '',
    fields: match[2] === undefined ? undefined : literalAt(text, match.index + match[0].length),
  })),
)

/** The object literal that begins at `start`, by its balanced braces. */
function literalAt(text: string, start: number): string {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    if (text[at] === '{') depth++
    if (text[at] === '}' && --depth === 0) return text.slice(start, at + 1)
  }
  return text.slice(start)
}

describe('the catalogue', () => {
  it('has no code that nothing raises', () => {
    const unused = Object.keys(ERRORS).filter((code) => !sources.some(({ text }) => text.includes(`'${code}'`)))
    expect(unused.filter((code) => !AWAITED.includes(code))).toEqual([])
  })

  it('is given every field that the message needs, wherever the fields are written in place', () => {
    expect(raisings.length).toBeGreaterThan(10)
    const missing = raisings.flatMap(({ file, code, fields }) => {
      if (fields === undefined || fields.includes('...')) return []
      const needed = [...(ERRORS[code as ErrorCode]?.message ?? '').matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
      return needed
        .filter((name) => !new RegExp(`[{,\\s]${name}\\s*[:,}]`).test(fields))
        .map((name) => `${file}: ${code} without ${name}`)
    })
    expect(missing).toEqual([])
  })
})
