import { resumeJob } from '@cronce/operations'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { InputFaults } from '../input-faults.ts'
import { readOperator } from '../operator-option.ts'
import { readChoice, readText } from '../option-values.ts'
import { withService } from '../service-connection.ts'
import { printable } from '../text/printable.ts'
import { MISSED } from './pause.ts'

export interface ResumeOptions {
  readonly note?: string
  readonly missed?: string
  readonly as?: string
}

const LONGEST_NOTE = 1_000

/** `resume`: ends a pause. */
export async function resume(context: Context, job: string, options: ResumeOptions): Promise<Answer> {
  const { note, missed: missedText } = options
  const faults = new InputFaults()
  const operator = faults.take(() => readOperator(options)) ?? { name: '' }
  if (note !== undefined) faults.take(() => readText('--note', note, { most: LONGEST_NOTE }))
  const missed = missedText === undefined ? undefined : faults.take(() => readChoice('--missed', missedText, MISSED))
  faults.raise()
  const { status } = await withService(context, ({ store }) => resumeJob({ store }, { job, operator, note, missed }))
  const meaning = status === 'resuming' ? 'resumes: a replica settles what was missed meanwhile' : 'is not paused'
  return {
    json: { job, status },
    text: () => [` ${printable(job)}  ${meaning}`],
    exit: status === 'resuming' ? 'well' : 'found',
  }
}
