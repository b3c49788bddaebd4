import type { Fault, Variables } from '@cronce/core'
import { isLoopback } from '@cronce/process'
import { networksOf, type ProxyOptions } from './proxy.ts'
import { grantsText, headerNameText, networksText, secretText } from './proxy-text.ts'

/** Variables of a proxy that signs people in. */
export const PROXY_CONFIG_VARIABLES = {
  CRONCE_CONSOLE_PROXY_HEADER: {
    about:
      'Header in which a proxy in front of the console says who asks, such as x-forwarded-user; the proxy must drop what clients send in it. Unset: such headers mean nothing.',
    default: '',
    schema: headerNameText(),
  },
  CRONCE_CONSOLE_PROXY_GROUPS: {
    about: 'Header in which it says their groups, separated by commas.',
    default: '',
    schema: headerNameText(),
  },
  CRONCE_CONSOLE_PROXY_ROLES: {
    about: 'Who may what through it: name:role @group:role *:role, separated by blanks; the highest counts.',
    default: '',
    schema: grantsText(),
  },
  CRONCE_CONSOLE_PROXY_FROM: {
    about:
      'Addresses and networks that it asks from, such as 10.0.0.7 10.1.0.0/16, separated by blanks; its X-Forwarded-For is believed. Also for a proxy that signs nobody in.',
    default: '',
    schema: networksText(),
  },
  CRONCE_CONSOLE_PROXY_SECRET: {
    about:
      'What it sends in the header cronce-proxy-secret, 16 characters or more; needed where FROM is unset or this machine.',
    default: '',
    schema: secretText(),
  },
} as const satisfies Variables

/** What the variables of the proxy say. */
export interface ProxyVariables {
  readonly CRONCE_CONSOLE_PROXY_HEADER: string | undefined
  readonly CRONCE_CONSOLE_PROXY_GROUPS: string | undefined
  readonly CRONCE_CONSOLE_PROXY_ROLES: ProxyOptions['grants']
  readonly CRONCE_CONSOLE_PROXY_FROM: readonly string[]
  readonly CRONCE_CONSOLE_PROXY_SECRET: string | undefined
}

/** The proxy that is configured; undefined where there is none. */
export function proxyOf(config: ProxyVariables): ProxyOptions | undefined {
  const header = config.CRONCE_CONSOLE_PROXY_HEADER
  if (header === undefined) return undefined
  return {
    header,
    groupsHeader: config.CRONCE_CONSOLE_PROXY_GROUPS,
    grants: config.CRONCE_CONSOLE_PROXY_ROLES,
    from: config.CRONCE_CONSOLE_PROXY_FROM,
    secret: config.CRONCE_CONSOLE_PROXY_SECRET,
  }
}

/** What is missing for a proxy to be believed safely. */
export function proxyFaults(config: ProxyVariables): Fault[] {
  const proxy = proxyOf(config)
  if (proxy === undefined) return idleFaults(config)
  const { grants, from, secret } = proxy
  const faults: Fault[] = []
  if (grants.length === 0) {
    const message =
      'expected who may what, because CRONCE_CONSOLE_PROXY_HEADER is set: such as "*:viewer @oncall:operator"'
    faults.push({ path: 'CRONCE_CONSOLE_PROXY_ROLES', message })
  }
  if (secret !== undefined) return faults
  const isEverybody = from.length === 0
  if (isEverybody || holdsThisMachine(from)) {
    const why = isEverybody
      ? 'nothing else tells the proxy from others'
      : 'every program of this machine has its address'
    faults.push({ path: 'CRONCE_CONSOLE_PROXY_SECRET', message: `expected a secret, because ${why}` })
  }
  return faults
}

/** Whether an address of this machine is among them, alone, in a network around it, or written as IPv6. */
function holdsThisMachine(from: readonly string[]): boolean {
  if (from.some((entry) => isLoopback(entry.split('/')[0] ?? ''))) return true
  const networks = networksOf(from)
  const ownV4 = networks.check('127.0.0.1') || networks.check('::ffff:127.0.0.1', 'ipv6')
  return ownV4 || networks.check('::1', 'ipv6')
}

/** Variables of a proxy that nothing reads: whoever set them thinks that it is believed. */
function idleFaults(config: ProxyVariables): Fault[] {
  const isSet = {
    CRONCE_CONSOLE_PROXY_GROUPS: config.CRONCE_CONSOLE_PROXY_GROUPS !== undefined,
    CRONCE_CONSOLE_PROXY_ROLES: config.CRONCE_CONSOLE_PROXY_ROLES.length > 0,
    CRONCE_CONSOLE_PROXY_SECRET: config.CRONCE_CONSOLE_PROXY_SECRET !== undefined,
  }
  const message = 'expected CRONCE_CONSOLE_PROXY_HEADER beside it, which is unset: no identity is believed without'
  return Object.entries(isSet).flatMap(([path, set]) => (set ? [{ path, message }] : []))
}
