import { jobCatalog, jobSettings, parseJobSettings } from '@cronce/core'
import { describe, expect, it } from 'vitest'
import { jobs } from './jobs.ts'

describe('the shared jobs', () => {
  const catalog = jobCatalog(jobs)

  it('make a catalogue, and survive the store', () => {
    expect(catalog.names).toEqual(['package-report', 'daily-digest', 'cache-refresh', 'settlement'])
    for (const job of jobs) {
      const settings = jobSettings(job)
      expect(parseJobSettings(JSON.parse(JSON.stringify(settings)))).toEqual({ ok: settings })
    }
  })

  it('show both crash policies and every queue of the demo, with one that nobody serves', () => {
    expect(jobs.map(({ name, onCrash, queue }) => [name, onCrash, queue])).toEqual([
      ['package-report', 'complete', 'reports'],
      ['daily-digest', 'skip', 'default'],
      ['cache-refresh', 'skip', 'default'],
      ['settlement', 'complete', 'finance'],
    ])
  })

  it('tell readers of the list what they are', () => {
    for (const { description } of jobs) expect(description).toMatch(/^[A-Z]/)
  })

  it('name their entities', () => {
    expect(catalog.get('package-report').entity.key({ name: '@babel/core', version: '8.0.0', downloads: 1 })).toBe(
      '@babel/core',
    )
    expect(catalog.get('daily-digest').entity.key({ scope: '@babel', packages: 178, downloads: 1 })).toBe('@babel')
    expect(() => catalog.get('package-report').entity.parse({ name: 'x', version: 'latest', downloads: -1 })).toThrow()
  })
})
