import type { ErrorEntry } from './catalogue.ts'

/** Redis and Postgres, their reach and their settings. */
export const STORE_ERRORS = {
  CRONCE_REDIS_KEY_PREFIX: {
    message: 'expected an ioredis client without keyPrefix, got keyPrefix "{prefix}"',
    fix: 'Remove keyPrefix and set `service`, which is in every key.',
  },
  CRONCE_REDIS_UNREACHABLE: {
    message: 'Redis at {address} did not answer within {timeoutMs} ms: {reason}',
    fix: 'Check that it runs and that REDIS_URL names it.',
  },
  CRONCE_REDIS_UNSAFE: {
    message: 'Redis at {address} is not safe for claims: {reason}',
    fix: 'Set maxmemory-policy noeviction, or accept the risk by name in the configuration.',
  },
  CRONCE_POSTGRES_UNREACHABLE: {
    message: 'Postgres did not answer: {reason}',
    fix: 'Check that it runs and has connections to spare; entities that need it are tried again meanwhile.',
  },
  CRONCE_TRANSACTION_UNSET: {
    message: '{slot}: effect "{effect}" asks for a transaction, and this worker has no Postgres',
    fix: 'Give createWorker `receipts: { postgres: pgAdapter(pool) }`, or use ctx.once.',
  },
  CRONCE_TRANSACTION_ABORTED: {
    message: 'a statement of the transaction failed and its error was swallowed: Postgres rolled everything back',
    fix: 'Let the error of a failed statement through, or put the statement behind a savepoint.',
  },
  CRONCE_TRANSACTION_APART: {
    message: '{slot}: effect "{effect}" and its receipt were not in one transaction',
    fix: 'Correct the adapter: `session` and `tx` must run on the connection that the transaction was begun on.',
  },
  CRONCE_RECEIPT_CONFLICT: {
    message: '{slot}: effect "{effect}" of entity "{entity}" has a receipt with another fingerprint',
    fix: 'Two different effects share a name: name each of them, or correct what the fingerprint is made of.',
  },
  CRONCE_RECEIPT_ISOLATION: {
    message: 'receipts need a transaction of isolation level read committed',
    fix: 'Have the adapter begin its transactions as read committed; docs/receipts.md shows how for each library.',
  },
  CRONCE_RECEIPT_SCHEMA: {
    message: 'the tables of receipts are missing or old: {reason}',
    fix: 'Call migrateReceipts before the worker starts, and check the rights of its database user.',
  },
  CRONCE_RECEIPT_RETENTION: {
    message:
      'expected receipts to be kept for at least {least} days, as long as dead letters can be redriven, got {got}',
    fix: 'Raise keepMs: a redrive without receipts would repeat effects.',
  },
} as const satisfies Record<string, ErrorEntry>
