import { readdirSync, readFileSync } from 'node:fs'
import { INITIAL_STATES, RUN_STATES, TRANSITIONS } from '@cronce/core'

const FOLDER = new URL('../lua/', import.meta.url)

/** Every script of `lua/` by name, with its includes and core's state table in front. */
export const SCRIPTS: ReadonlyMap<string, string> = new Map(
  readdirSync(FOLDER)
    .filter((file) => file.endsWith('.lua'))
    .map((file) => [file.slice(0, -4), assemble(readFileSync(new URL(file, FOLDER), 'utf8'))]),
)

/** `-- include: time, transition` in a script's head names the fragments it stands on. */
function assemble(body: string): string {
  const names = /^-- include: (.+)$/m.exec(body)?.[1]?.split(/,\s*/) ?? []
  const fragments = names.map((name) => readFileSync(new URL(`include/${name}.lua`, FOLDER), 'utf8'))
  const table = names.includes('transition') ? [stateTable()] : []
  return [...table, ...fragments, body].join('\n')
}

/** Core's table as Lua, so that there is one table and not two. */
function stateTable(): string {
  const set = (names: readonly string[]) => `{ ${names.map((name) => `${name} = true`).join(', ')} }`
  // Words in a text instead of a set: Redis builds what stands here anew at every call.
  const rows = Object.entries(TRANSITIONS).map(([from, to]) => `${from} = ' ${to.join(' ')} '`)
  const phases = Object.entries(RUN_STATES).map(([state, phase]) => `${state} = '${phase}'`)
  return [
    `local TRANSITIONS = { ${rows.join(', ')} }`,
    `local PHASES = { ${phases.join(', ')} }`,
    `local INITIAL = ${set(INITIAL_STATES)}`,
  ].join('\n')
}
