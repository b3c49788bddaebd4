import { execFileSync } from 'node:child_process'
import { describe, it } from 'vitest'
import { chromiumBinary, isCi, redisBinary } from './config.ts'
import { postgresBinaries } from './postgres-binaries.ts'

/** What a machine may lack. `redis-server`: a binary, for tests that kill, freeze or cluster it. */
export type Requirement = 'redis-server' | 'chromium' | 'docker' | 'postgres'

const FOUND: Readonly<Record<Requirement, () => boolean>> = {
  'redis-server': () => redisBinary() !== undefined,
  chromium: () => chromiumBinary() !== undefined,
  docker: dockerAnswers,
  postgres: () => postgresBinaries() !== undefined,
}

// Installed by .ci/run, so their absence there is a fault of the set-up.
const NEVER_SKIPPED_IN_CI: readonly Requirement[] = ['chromium', 'redis-server']

/**
 * A `describe` whose tests need something that a machine may lack. Where it is missing they are skipped, and the report
 * names them and says why; under CI, a missing Chromium or redis-server fails them instead.
 *
 * @example
 * describeNeeding(['chromium'], 'the runs page', () => { it('shows a run', ...) })
 */
export function describeNeeding(requirements: readonly Requirement[], name: string, tests: () => void): void {
  const missing = requirements.filter((requirement) => !FOUND[requirement]())
  if (missing.length === 0) {
    describe(name, tests)
  } else if (isCi() && missing.some((requirement) => NEVER_SKIPPED_IN_CI.includes(requirement))) {
    describe(name, () => {
      it(`needs ${missing.join(' and ')}`, () => {
        throw new Error(`CI must have ${missing.join(' and ')}`)
      })
    })
  } else {
    describe.skip(`${name} (needs ${missing.join(' and ')})`, tests)
  }
}

function dockerAnswers(): boolean {
  try {
    execFileSync('docker', ['info'], { stdio: 'ignore', timeout: 5000 })
    return true
  } catch {
    return false
  }
}
