import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { CLI_VARIABLES } from './config.ts'
import { createProgram } from './program.ts'

const PAGE = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8')

const help = new Map<Command, string>()
let reader: Command | undefined
const program = createProgram(async () => undefined, {
  help: (text) => {
    if (reader !== undefined) help.set(reader, text)
  },
})

/** Every command that does something, with the words that call it. */
function verbs(command: Command, words: readonly string[] = []): readonly (readonly [string, Command])[] {
  if (command.commands.length === 0) return [[words.join(' '), command]]
  return command.commands.flatMap((child) => verbs(child, [...words, child.name()]))
}

const VERBS = verbs(program)

function helpOf(command: Command): string {
  reader = command
  command.outputHelp()
  return help.get(command) ?? ''
}

describe('docs/cli.md', () => {
  it.each(VERBS)('shows cronce %s', (words) => {
    expect(PAGE).toMatch(new RegExp(`\\$ cronce ${words}( |$)`, 'm'))
  })

  it('shows no verb that is not there', () => {
    const shown = [...PAGE.matchAll(/\$ cronce ([a-z]+)( [a-z]+)?/g)].map(
      ([, verb = '', sub = '']) => verb + (verb === 'dead' ? sub : ''),
    )
    expect(shown.length).toBeGreaterThan(10)
    for (const words of shown) expect(VERBS.map(([name]) => name)).toContain(words)
  })

  it('has every variable', () => {
    for (const name of Object.keys(CLI_VARIABLES)) expect(PAGE).toContain(`\`${name}\``)
  })
})

describe('help', () => {
  it.each(VERBS)('of cronce %s has an example that calls it, within 80 columns', (words, command) => {
    const text = helpOf(command)
    expect(text).toContain('Examples:')
    expect(text).toMatch(new RegExp(`^ {2}\\$ cronce ${words}( |$)`, 'm'))
    const [options = ''] = text.split('\nExamples:')
    for (const line of options.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80)
  })
})
