import { type AskedAction, recordAction, type ServiceAccess } from '@cronce/operations'

/** Writes who stopped a change into the journal; beside the change's own row. What is stopped stays so where it cannot be written. */
export async function tellStop(access: ServiceAccess, asked: AskedAction): Promise<void> {
  const stopped = () => Promise.resolve({ answer: undefined, end: { result: 'told to stop' } })
  await recordAction(access, asked, stopped).catch((error: unknown) =>
    access.onFault?.(error, 'a stop is not in the journal'),
  )
}
