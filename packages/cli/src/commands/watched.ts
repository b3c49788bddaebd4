import type { Command } from 'commander'

/** Adds `--watch` to a command that only reads. */
export function watched(command: Command): Command {
  return command
    .option('--watch', 'reads again and again until Ctrl-C; with --json a line each')
    .option('--every <duration>', 'with --watch: how often (default: 2s)')
}
