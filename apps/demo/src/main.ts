import { isCronceError, systemClock, systemRandom } from '@cronce/core'
import { Command } from 'commander'
import { runBounded } from './bounded-run.ts'
import { readDemoConfig } from './config.ts'
import { runInteractive } from './interactive-run.ts'
import { type BoundedOptions, type InteractiveOptions, readOptions, type WrittenOptions } from './options.ts'
import { type ConsoleProcess, startConsole } from './processes/console-process.ts'
import { announce, STATE_FOLDER, withdraw } from './state-folder.ts'
import { stopOnSignals } from './stop-signals.ts'
import { SERVICE, startSystem } from './system.ts'
import { createEndNotes } from './view/end-notes.ts'
import { summaryText } from './view/summary-text.ts'

const INTERRUPTED = 130

const STOP_CONSOLE_WITHIN_MS = 3_000

const tell = (line: string): void => void process.stderr.write(`${line}\n`)

const program = new Command('npm start --')
  .description('Runs replicas and workers of the shared jobs as processes of their own, and kills some of them.')
  .option('--slots <n>', 'end after this many slots of cache-refresh and one report, and judge what was seen')
  .option('--replicas <n>', 'service replicas, each with a trigger', '5')
  .option('--workers <n>', 'workers', '2')
  .option(
    '--entities <n>',
    'like --slots 10, with a report over this many packages, whose dead letters are redriven at its end',
  )
  .option('--kill-every <duration>', 'with --entities: kill a worker every so often until the report has ended')
  .option('--no-kill', 'kill nobody')
  .option('--json', 'with --slots or --entities: one JSON object as the last line')
  .addHelpText(
    'after',
    '\nExamples:\n  npm start\n  npm start -- --slots 10 --replicas 5 --workers 2 --json\n  npm start -- --entities 100000 --kill-every 2s --json\n\nExit: 0 well, 1 something was lost or doubled, 2 refused, 3 Redis out of reach.',
  )
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .action(async (written: WrittenOptions) => {
    process.exitCode = await run(readOptions(written))
  })

async function run(options: BoundedOptions | InteractiveOptions): Promise<number> {
  const config = readDemoConfig()
  const signal = stopOnSignals()
  const [clock, random] = [systemClock, systemRandom]
  const deaths: string[] = []
  const ends = createEndNotes(clock)
  const startedAt = clock.now()
  tell(`starting ${options.replicas} replicas and ${options.workers} workers`)
  const system = await startSystem({
    config,
    replicas: options.replicas,
    workers: options.workers,
    entities: options.kind === 'bounded' ? options.long?.entities : undefined,
    clock,
    onDeath(id, lastLines) {
      deaths.push(id)
      ends.note(`${id} ended by itself: ${lastLines.at(-1) ?? 'it wrote nothing'}`)
      if (options.kind === 'bounded') tell([`${id} ended by itself; its last lines:`, ...lastLines].join('\n  '))
    },
  })
  tell(`all are ready after ${((clock.now() - startedAt) / 1000).toFixed(1)} s`)
  if (options.kind === 'bounded' && options.long !== undefined) {
    tell(`receipts are in ${config.POSTGRES_URL === undefined ? 'Redis: there is no Postgres here' : 'Postgres'}`)
  }
  let page: ConsoleProcess | undefined
  try {
    if (options.kind === 'interactive') {
      const onDeath = (lastLines: readonly string[]) =>
        ends.note(`the console ended by itself: ${lastLines.at(-1) ?? ''}`)
      page = await startConsole({ config, service: SERVICE, onDeath })
      if (page !== undefined) tell(`console: ${page.signInUrl} (signs in once)`)
    }
    const announced = await announce(STATE_FOLDER, {
      ...{ redisUrl: config.REDIS_URL, service: SERVICE, pid: process.pid },
      ...(page === undefined ? {} : { consoleUrl: page.url }),
    })
    if (announced === 'taken') tell('another system runs from this folder: `npm run cronce` goes on finding that one')
    if (options.kind === 'interactive') {
      await runInteractive({
        system,
        options,
        clock,
        random,
        signal,
        ends,
        redisUrl: config.REDIS_URL,
        signInUrl: page?.signInUrl,
      })
      return 0
    }
    const verdict = await runBounded({ system, options, clock, random, signal, tell })
    if (verdict === 'aborted') return INTERRUPTED
    const faults = [...verdict.faults, ...deaths.map((id) => `${id} ended by itself`)]
    for (const fault of faults) tell(`FAULT: ${fault}`)
    tell(`every call of the receiver: ${system.effects.file}`)
    console.log(options.output === 'json' ? JSON.stringify(verdict.summary) : summaryText(verdict.summary))
    return faults.length === 0 ? 0 : 1
  } finally {
    await withdraw(STATE_FOLDER, process.pid)
    await Promise.all([system.stopProcesses(), page?.stop(STOP_CONSOLE_WITHIN_MS)])
    await system.close()
  }
}

try {
  await program.parseAsync()
} catch (error) {
  const isRefusal = isCronceError(error, 'CRONCE_CONFIG_INVALID')
  tell(isRefusal ? error.faults.map(({ path, message }) => `${path}: ${message}`).join('\n') : String(error))
  process.exit(isRefusal ? 2 : isCronceError(error, 'CRONCE_REDIS_UNREACHABLE') ? 3 : 1)
}
