import { durationText, type Environment, optionalText, readEnvironment, type Variables } from '@cronce/core'
import { ALARM_VARIABLES, KNOWN_VARIABLES, PROCESS_VARIABLES, SWEEP_VARIABLES, TRACE_VARIABLES } from '@cronce/process'

/** Every variable of the service. `.env.example` is tested equal. */
export const SERVICE_VARIABLES = {
  ...PROCESS_VARIABLES,
  CRONCE_REPLICA_ID: {
    about:
      'Name of this replica in claims and logs, unique in the service. Unset: host name, process id and a random suffix.',
    default: '',
    schema: optionalText(),
  },
  CRONCE_CLAIM_LEASE: {
    about: 'How long a claim holds a slot before another replica may take it.',
    default: '10s',
    schema: durationText({ leastMs: 500, mostMs: 600_000 }),
  },
  ...SWEEP_VARIABLES,
  ...ALARM_VARIABLES,
  ...TRACE_VARIABLES,
} as const satisfies Variables

export type ServiceConfig = Environment<typeof SERVICE_VARIABLES>

/**
 * The configuration of a service process.
 *
 * @throws CronceError CRONCE_CONFIG_INVALID with every fault
 */
export function readServiceConfig(env: Readonly<Record<string, string | undefined>> = process.env): ServiceConfig {
  return readEnvironment(SERVICE_VARIABLES, { env, prefix: 'CRONCE_', alsoKnown: KNOWN_VARIABLES })
}
