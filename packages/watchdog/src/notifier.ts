import type { AlarmEntry } from '@cronce/store'

/** What is told at once: alarms that were raised or cleared. */
export interface AlarmNotice {
  /** The same for the same alarms. An attempt may have others besides; what receivers tell repeats by is each alarm's own id. */
  readonly id: string
  readonly service: string
  readonly alarms: readonly AlarmEntry[]
}

/** A way for alarms to reach people. */
export interface Notifier {
  /** Its name in events and in the journal; no secret. Unique in a process, and the same in every process of the fleet. */
  readonly name: string
  /** Tells it. Rejects where it was not taken: it is tried again with growing pauses, by any process that has a notifier of this name. */
  notify(notice: AlarmNotice): Promise<void>
}
