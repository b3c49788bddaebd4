import { describe, expect, it } from 'vitest'
import { redactUrl } from './redact-url.ts'
import { SIGNATURE_AGE_MS, signWebhook, verifyWebhook, type WebhookToVerify } from './webhook-signature.ts'

const NOW = Date.UTC(2026, 5, 1, 13)
const SECRET = 'a secret of some length'
const timestamp = NOW / 1000
const body = '{"alarms":["käse"]}'
const signature = signWebhook({ secrets: [SECRET], timestamp, body })

const verify = (change: Partial<WebhookToVerify> = {}) =>
  verifyWebhook({ timestamp: String(timestamp), signature, body, secrets: [SECRET], now: NOW, ...change })

describe('a webhook', () => {
  it('is valid as text and as bytes, within its time', () => {
    expect(verify()).toBe('valid')
    expect(verify({ body: Buffer.from(body) })).toBe('valid')
    expect(verify({ now: NOW + SIGNATURE_AGE_MS })).toBe('valid')
    expect(verify({ now: NOW - SIGNATURE_AGE_MS })).toBe('valid')
  })

  it('is signed as the documentation says: HMAC-SHA256 over timestamp, a dot, and the body', () => {
    expect(signWebhook({ secrets: ['key-of-sixteen-ch'], timestamp: 1_780_318_800, body: '{}' })).toBe(
      'v1=a8ef9bf7d3af05cf50881b05df47cedfc5c823118547e56e5cc474902989d8eb',
    )
  })

  it('is taken with either secret while it is being changed, by sender and receiver', () => {
    const both = signWebhook({ secrets: ['the new one of theirs', SECRET], timestamp, body })
    expect(verify({ signature: both })).toBe('valid')
    expect(verify({ secrets: ['another one of ours', SECRET] })).toBe('valid')
  })

  it.each<[ReturnType<typeof verifyWebhook>, Partial<WebhookToVerify>]>([
    ['forged', { body: `${body} ` }],
    ['forged', { timestamp: String(timestamp + 1) }],
    ['forged', { secrets: ['another secret altogether'] }],
    ['forged', { secrets: [] }],
    ['forged', { signature: `v1=${'0'.repeat(64)}` }],
    ['stale', { now: NOW + SIGNATURE_AGE_MS + 1_000 }],
    ['stale', { now: NOW - SIGNATURE_AGE_MS - 1_000 }],
    ['malformed', { timestamp: undefined }],
    ['malformed', { timestamp: '1e9' }],
    ['malformed', { signature: undefined }],
    ['malformed', { signature: '' }],
    ['malformed', { signature: signature.slice(3) }],
    ['malformed', { signature: signature.slice(0, -1) }],
    ['malformed', { signature: `${signature},`.repeat(100) }],
  ])('is %s with %j', (verdict, change) => {
    expect(verify(change)).toBe(verdict)
  })
})

describe('a URL in a log', () => {
  it.each([
    ['https://hooks.example.com/T0/B0/secret?token=1', 'https://hooks.example.com/***'],
    ['https://user:password@example.com/', 'https://example.com'],
    ['http://127.0.0.1:8080/?key=1', 'http://127.0.0.1:8080/***'],
  ])('%s is %s', (url, shown) => {
    expect(redactUrl(url)).toBe(shown)
  })
})
