/**
 * How long a claim holds a slot before another replica may take it, in milliseconds: 10 seconds.
 *
 * A trigger may be given another lease; definitions are checked against this one, because they are shared by services
 * that choose differently.
 */
export const DEFAULT_CLAIM_LEASE_MS = 10_000
