import type { TriggerContext } from './trigger-context.ts'

/** What Redis answers about a key that holds something else than a script or command expects. */
const ABOUT_A_ROW = /WRONGTYPE|user_script/

/** ... and where a script only passes on that the whole store refuses. */
const ABOUT_THE_STORE =
  /\b(?:OOM|READONLY|MISCONF|NOREPLICAS|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|NOPERM|NOAUTH)\b/

/** Promise 10: whether an error is about what one job's keys hold, so that the other jobs go on; else the store is out of reach. */
export function isRowFault(error: unknown): boolean {
  if (error instanceof SyntaxError) return true
  return error instanceof Error && ABOUT_A_ROW.test(error.message) && !ABOUT_THE_STORE.test(error.message)
}

/** Does one job's part of a pass over many; a row that cannot be used is told and passed over. @throws what is no fault of a row */
export async function passOverFault(context: TriggerContext, job: string, act: () => Promise<unknown>): Promise<void> {
  try {
    await act()
  } catch (error) {
    if (!isRowFault(error)) throw error
    tellPassedOver(context, job, error)
  }
}

export function tellPassedOver({ events }: TriggerContext, job: string, error: unknown): void {
  events.emit('job.passed-over', { job, reason: error instanceof Error ? error.message : String(error) })
}
