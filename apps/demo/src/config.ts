import { type Environment, optionalUrlText, readEnvironment, urlText, type Variables } from '@cronce/core'

const DEMO_VARIABLES = {
  REDIS_URL: {
    about: 'Redis; `npm start` starts one of its own where it is not set.',
    schema: urlText(['redis:', 'rediss:']),
  },
  POSTGRES_URL: {
    about: 'Postgres for the receipts of a long report; `npm start` starts one of its own where it can.',
    default: '',
    schema: optionalUrlText(['postgresql:', 'postgres:']),
  },
} as const satisfies Variables

export interface DemoConfig extends Environment<typeof DEMO_VARIABLES> {
  /** Our own environment, for the processes that the demo starts. */
  readonly inherited: Readonly<Record<string, string | undefined>>
}

/**
 * The configuration of the demo; what else it takes is on its command line.
 *
 * @throws CronceError CRONCE_CONFIG_INVALID
 */
export function readDemoConfig(env: Readonly<Record<string, string | undefined>> = process.env): DemoConfig {
  // Variables of the apps are the apps' to judge, so none is unknown here.
  return {
    ...readEnvironment(DEMO_VARIABLES, {
      env: { REDIS_URL: env['REDIS_URL'], POSTGRES_URL: env['POSTGRES_URL'] },
      prefix: 'CRONCE_',
    }),
    inherited: env,
  }
}
