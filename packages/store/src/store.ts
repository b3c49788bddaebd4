import type { RedisClient } from './connection.ts'
import { jobKey, serviceKey } from './keys.ts'
import { SCRIPTS } from './scripts.ts'

/** What a script takes: text, numbers, and packed bytes. */
export type ScriptArgument = string | number | Buffer

/** What a script answers: a flat list, or one value. */
export type ScriptAnswer = readonly (string | number)[]

/** The store of one service: its Redis, its keys and its scripts. Every function of this package takes one. */
export interface Store {
  readonly redis: RedisClient
  readonly service: string
  /** Runs a script of `lua/` on the keys of one job. The first argument, the time, is filled in. */
  job(name: string, script: string, args: readonly ScriptArgument[]): Promise<ScriptAnswer>
  /** Runs a script on the keys that span the service's jobs. */
  span(script: string, args: readonly ScriptArgument[]): Promise<ScriptAnswer>
}

export interface StoreOptions {
  readonly redis: RedisClient
  readonly service: string
  /** A virtual clock for simulation and tests, epoch milliseconds; by default Redis decides what time it is (A1). */
  readonly virtualTime?: () => number
}

type Command = (key: string, ...args: ScriptArgument[]) => Promise<unknown>

/** Makes a store on a connection that the caller opens and closes. Loads the scripts into the client; sends nothing. */
export function createStore({ redis, service, virtualTime }: StoreOptions): Store {
  for (const [name, lua] of SCRIPTS) redis.defineCommand(`cronce:${name}`, { numberOfKeys: 1, lua })
  const commands = redis as unknown as Record<string, Command>
  const run = async (script: string, key: string, args: readonly ScriptArgument[]): Promise<ScriptAnswer> => {
    const command = commands[`cronce:${script}`]
    if (command === undefined) throw new TypeError(`no script named ${script}`)
    const time = virtualTime === undefined ? '' : virtualTime()
    const answer = await command.call(redis, key, time, ...args)
    return (Array.isArray(answer) ? answer : [answer]) as ScriptAnswer
  }
  return {
    redis,
    service,
    job: (name, script, args) => run(script, jobKey(service, name), args),
    span: (script, args) => run(script, serviceKey(service), args),
  }
}
