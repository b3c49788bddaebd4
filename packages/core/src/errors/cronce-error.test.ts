import { describe, expect, it } from 'vitest'
import { ERRORS, type ErrorCode } from './catalogue.ts'
import { CronceError, isCronceError } from './cronce-error.ts'

const CODES = Object.keys(ERRORS) as ErrorCode[]

function placeholders(code: ErrorCode): readonly string[] {
  return [...ERRORS[code].message.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
}

describe('CronceError', () => {
  it.each(CODES)('fills every placeholder of %s and says what to do', (code) => {
    const fields = Object.fromEntries(placeholders(code).map((name) => [name, `<${name}>`]))
    const error = new CronceError(code, fields)
    expect(error.message).not.toMatch(/[{}]/)
    for (const name of placeholders(code)) expect(error.message).toContain(`<${name}>`)
    expect(error.fix).toMatch(/^\S.*\.$/s)
    expect(error).toMatchObject({ name: 'CronceError', code, fields, faults: [] })
  })

  it.each(CODES)('names %s in capitals, and its placeholders as fields are named', (code) => {
    expect(code).toMatch(/^CRONCE_[A-Z]+(?:_[A-Z]+)*$/)
    for (const name of placeholders(code)) expect(name).toMatch(/^[a-z][A-Za-z]*$/)
    // Braces that are no placeholder would look like one that was forgotten.
    expect(ERRORS[code].message.replaceAll(/\{\w+\}/g, '')).not.toMatch(/[{}]/)
  })

  it('puts values in as they are, those that look like placeholders or patterns too', () => {
    const error = new CronceError('CRONCE_SLOT_KEY_INVALID', { got: '{got} $& {name}' })
    expect(error.message).toContain('got "{got} $& {name}"')
  })

  it('shows a field that nobody gave by its name, so that the message still reads', () => {
    expect(new CronceError('CRONCE_SLOT_KEY_INVALID').message).toContain('{got}')
  })

  it('keeps the cause, a thrown null or string too, and has none where none was given', () => {
    const cause = new Error('below')
    expect(new CronceError('CRONCE_SLOT_KEY_INVALID', {}, { cause }).cause).toBe(cause)
    expect(new CronceError('CRONCE_SLOT_KEY_INVALID', {}, { cause: null }).cause).toBeNull()
    expect('cause' in new CronceError('CRONCE_SLOT_KEY_INVALID')).toBe(false)
  })
})

describe('isCronceError', () => {
  it('knows the class, and the code where one is asked for', () => {
    const error = new CronceError('CRONCE_SLOT_KEY_INVALID', { got: 'x' })
    expect(isCronceError(error)).toBe(true)
    expect(isCronceError(error, 'CRONCE_SLOT_KEY_INVALID')).toBe(true)
    expect(isCronceError(error, 'CRONCE_JOB_INVALID')).toBe(false)
    expect(isCronceError(new Error('CRONCE_SLOT_KEY_INVALID'))).toBe(false)
    expect(isCronceError(undefined)).toBe(false)
  })
})
