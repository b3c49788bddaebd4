import type { Clock } from '@cronce/core'
import type { CliEnvironment } from './config.ts'
import type { Terminal } from './terminal.ts'

/** Options that every command takes. */
export interface GlobalOptions {
  readonly json?: boolean
  readonly service?: string
  readonly redis?: string
  readonly jobs?: string
}

/** What a command works with. */
export interface Context {
  readonly global: GlobalOptions
  readonly clock: Clock
  /** The folder it was called in. */
  readonly folder: string
  readonly terminal: Terminal
  /** What the environment says; read only where it is needed. Throws CRONCE_CONFIG_INVALID. */
  readonly environment: () => CliEnvironment
}
