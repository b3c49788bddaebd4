import type { AlarmFacts } from '@cronce/core'

/** A raised alarm, as the judge left it. */
export interface RaisedAlarm extends AlarmFacts {
  readonly raisedAt: number
}

/** Reads what a take says is raised has. */
export function parseRaised(text: string): RaisedAlarm[] {
  return text === '' ? [] : (JSON.parse(text) as RaisedAlarm[])
}
