import type { z } from 'zod'
import { describeValue } from '../errors/describe-value.ts'
import { asRecord, checked, objectOf } from './fields.ts'
import type { EntityShape } from './job-definition.ts'
import type { EntitySchema } from './job-input.ts'

/** The key of the one entity of a job without `entity`. */
export const SINGLE_ENTITY_KEY = '-'

/** The shape of a job without `entity`: one entity, whose payload is undefined and whose key is {@link SINGLE_ENTITY_KEY}. */
export const SINGLE_ENTITY: EntityShape<undefined> = Object.freeze({
  parse: () => undefined,
  key: () => SINGLE_ENTITY_KEY,
})

/** `entity: { schema, key }`. */
export function entityField(): z.ZodType<EntityShape<unknown>> {
  const written = objectOf({
    schema: checked(schemaFault, (value) => value as EntitySchema<unknown>),
    key: checked(keyFault, (value) => value as (entity: unknown) => string),
  })
  return written.transform(({ schema, key }) =>
    Object.freeze({ parse: (payload: unknown) => schema.parse(payload), key: (entity: unknown) => key(entity) }),
  )
}

function schemaFault(value: unknown): string | undefined {
  const got = `expected a zod schema (anything with a parse method), got ${describeValue(value)}`
  try {
    if (hasParse(value)) return undefined
    const record = asRecord(value)
    const inner = record === undefined ? [] : Object.values(record)
    return inner.length > 0 && inner.every(hasParse) ? `${got}: wrap it in z.object(...)` : got
  } catch {
    return got
  }
}

function keyFault(value: unknown): string | undefined {
  if (typeof value === 'function') return undefined
  return `expected a function from an entity to its key, such as (account) => account.id, got ${describeValue(value)}`
}

function hasParse(value: unknown): boolean {
  return (
    (typeof value === 'object' || typeof value === 'function') &&
    value !== null &&
    typeof (value as { parse?: unknown }).parse === 'function'
  )
}
