import { isUtf8 } from 'node:buffer'
import { createHash, timingSafeEqual } from 'node:crypto'
import { BlockList, isIPv6 } from 'node:net'
import { CronceError } from '@cronce/core'
import { ROLES } from '@cronce/operations'
import type { FastifyRequest } from 'fastify'
import type { RoleGrant } from './proxy-text.ts'
import type { Account } from './tokens-text.ts'

/** In which a proxy shows that it is the one that was configured. */
export const PROXY_SECRET_HEADER = 'cronce-proxy-secret'

/** A proxy that signs people in and says in a header who asks. */
export interface ProxyOptions {
  /** In small letters; whose value is the name. */
  readonly header: string
  /** Names of groups, separated by commas; undefined: there are no groups. */
  readonly groupsHeader: string | undefined
  readonly grants: readonly RoleGrant[]
  /** Addresses that it asks from; empty: any, and the secret alone tells it. */
  readonly from: readonly string[]
  readonly secret: string | undefined
}

/** Who asks, by the word of the proxy. */
export type ProxyIdentity =
  /** No identity is claimed. */
  | { readonly status: 'none' }
  /** `account` is undefined where nothing gives the name a role. */
  | { readonly status: 'known'; readonly name: string; readonly account: Account | undefined }
  /** Somebody else sends the header. */
  | { readonly status: 'forged' }

/** Reads who asks. Believes the header only of the proxy: by its address, by its secret, or by both where both are configured. */
export function createProxyReader(options: ProxyOptions): (request: FastifyRequest) => ProxyIdentity {
  const { header, groupsHeader, grants, from, secret } = options
  const networks = networksOf(from)
  const isProxy = ({ headers, socket }: FastifyRequest): boolean => {
    const address = socket.remoteAddress ?? ''
    const isFrom = from.length === 0 || networks.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
    return isFrom && (secret === undefined || isEqual(textOf(headers[PROXY_SECRET_HEADER]), secret))
  }
  return (request) => {
    const { headers } = request
    const claimed = headers[header]
    if (claimed === undefined && headers[PROXY_SECRET_HEADER] === undefined) return { status: 'none' }
    if (!isProxy(request)) return { status: 'forged' }
    if (claimed === undefined) return { status: 'none' }
    const name = wordsOf(claimed).trim()
    // Sent twice, it arrives with a comma: the proxy passed on what a client sent.
    if (!/^[^\p{C},]{1,128}$/u.test(name)) return { status: 'forged' }
    const groups = groupsHeader === undefined ? [] : wordsOf(headers[groupsHeader]).split(',')
    const role = highestRole(grants, { name, groups: groups.map((group) => group.trim()) })
    return { status: 'known', name, account: role === undefined ? undefined : { name, role } }
  }
}

/** Addresses and networks, `10.0.0.7` and `10.1.0.0/16`, as a set of addresses. */
export function networksOf(entries: readonly string[]): BlockList {
  const networks = new BlockList()
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (bits === undefined) networks.addAddress(address, family)
    else networks.addSubnet(address, Number(bits), family)
  }
  return networks
}

/** What a forged or unknown identity is told. */
export function identityRefusal(identity: ProxyIdentity): CronceError | undefined {
  if (identity.status === 'forged') {
    return new CronceError('CRONCE_CONSOLE_PROXY', { reason: 'the identity of a proxy, from somebody who is none' })
  }
  if (identity.status === 'none' || identity.account !== undefined) return undefined
  const name = JSON.stringify(identity.name)
  return new CronceError('CRONCE_CONSOLE_PROXY', { reason: `nothing gives ${name} a role` })
}

function highestRole(grants: readonly RoleGrant[], { name, groups }: { name: string; groups: readonly string[] }) {
  const given = grants.filter((grant) => {
    if (grant.to === 'everybody') return true
    return grant.to === 'user' ? grant.name === name : groups.includes(grant.name)
  })
  return ROLES.findLast((role) => given.some((grant) => grant.role === role))
}

function isEqual(given: string, expected: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(expected))
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Proxies write names in UTF-8; node reads headers byte by byte. */
function wordsOf(value: string | string[] | undefined): string {
  const bytes = Buffer.from(textOf(value), 'latin1')
  return isUtf8(bytes) ? bytes.toString() : bytes.toString('latin1')
}

function textOf(value: string | string[] | undefined): string {
  return typeof value === 'string' ? value : ''
}
