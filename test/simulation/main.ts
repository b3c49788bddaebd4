import { parseArgs } from 'node:util'
import { systemClock } from '@cronce/core'
import { redisUrlOfSimulation } from './config.ts'
import { mixedScenario, productionScenario } from './scenarios.ts'
import { type Scenario, type SimulationResult, simulate } from './simulation.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    /** Runs that many mixed seeds, from `seed` on. */
    seeds: { type: 'string', default: '1' },
    replicas: { type: 'string' },
    schedules: { type: 'string', default: 'mixed' },
    /** For a look at part of the day. */
    hours: { type: 'string', default: '24' },
    json: { type: 'boolean', default: false },
    story: { type: 'boolean', default: false },
  },
})

const redisUrl = redisUrlOfSimulation()
const say = (line: string) => process.stderr.write(`${line}\n`)

function scenarioOf(seed: number): Scenario {
  const replicas = values.replicas === undefined ? {} : { replicas: Number(values.replicas) }
  if (values.schedules === 'production')
    return productionScenario({ seed, replicas: 5, ...replicas, hours: Number(values.hours) })
  return mixedScenario({ seed, ...replicas })
}

async function runSeed(seed: number): Promise<SimulationResult> {
  const startedAt = systemClock.now()
  const onProgress = (at: number, kills: number) => {
    if (values.schedules === 'production' || values.story)
      say(`${new Date(at).toISOString()}: ${kills} kills, ${Math.round((systemClock.now() - startedAt) / 1_000)} s`)
  }
  const result = await simulate(scenarioOf(seed), { redisUrl, onProgress })
  const { audit, kills, ended, commands, breaches } = result
  const outcome = breaches.length === 0 ? 'adds up' : 'DOES NOT ADD UP'
  say(
    `seed ${seed} ${outcome}: ${audit.expected} slots, ${ended} runs ended, ${kills} kills, ${commands} commands, ${systemClock.now() - startedAt} ms`,
  )
  if (values.story && breaches.length === 0) for (const line of result.story) say(`  ${line}`)
  for (const line of result.report) say(line)
  return result
}

function lastLine({ seed, audit, kills }: SimulationResult): string {
  const { expected, recorded, missing, double } = audit
  return JSON.stringify({ seed, slots: expected, recorded, missing, double, kills })
}

let failed = 0
for (let seed = Number(values.seed); seed < Number(values.seed) + Number(values.seeds); seed++) {
  const result = await runSeed(seed)
  if (result.breaches.length > 0) failed += 1
  process.stdout.write(`${lastLine(result)}\n`)
}
process.exitCode = failed === 0 ? 0 : 1
