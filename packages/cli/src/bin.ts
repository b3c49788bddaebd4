#!/usr/bin/env node
import { systemClock } from '@cronce/core'
import { readCliEnvironment, wantsNoColour } from './config.ts'
import { runCli } from './run-cli.ts'
import { processTerminal } from './terminal.ts'

// A reader that has enough (`cronce runs | head`) ends the command, and is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(0)
})

const args = process.argv.slice(2)
const colour = wantsNoColour() || args.includes('--no-color') ? 'unwanted' : 'wanted'

const code = await runCli({
  args,
  clock: systemClock,
  folder: process.cwd(),
  terminal: processTerminal({ colour }),
  environment: readCliEnvironment,
})

// All is written by now. A connection that was refused holds its timers for two seconds more; nobody waits for them.
process.exit(code)
