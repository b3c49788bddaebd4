import { type PauseJobResult, pauseJob } from '@cronce/operations'
import type { StoredPause } from '@cronce/store'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { InputFaults } from '../input-faults.ts'
import { pauseJson } from '../json/pause-json.ts'
import { readOperator } from '../operator-option.ts'
import { readChoice, readText, readUntil } from '../option-values.ts'
import { withService } from '../service-connection.ts'
import { pauseText } from '../text/pause-text.ts'
import { printable } from '../text/printable.ts'

export interface PauseOptions {
  readonly note?: string
  readonly until?: string
  readonly missed?: string
  readonly as?: string
}

const LONGEST_NOTE = 1_000
export const MISSED: readonly StoredPause['missed'][] = ['skip', 'catch-up']

/** `pause`: stops starts of a job. */
export async function pause(context: Context, job: string, options: PauseOptions): Promise<Answer> {
  const { note, until: untilText, missed: missedText } = options
  const faults = new InputFaults()
  const operator = faults.take(() => readOperator(options)) ?? { name: '' }
  if (note !== undefined) faults.take(() => readText('--note', note, { most: LONGEST_NOTE }))
  const until = untilText === undefined ? undefined : faults.take(() => readUntil('--until', untilText))
  const missed = missedText === undefined ? undefined : faults.take(() => readChoice('--missed', missedText, MISSED))
  faults.raise()
  const result = await withService(context, ({ store }) => pauseJob({ store }, { job, operator, note, until, missed }))
  return {
    json: { job, status: result.status, pause: result.pause === undefined ? null : pauseJson(result.pause) },
    text: () => lines(result),
    exit: result.status === 'paused' ? 'well' : 'found',
  }
}

function lines({ job, status, pause: found }: PauseJobResult): string[] {
  const head = status === 'paused' ? '' : 'was paused before and stays so: '
  return [` ${printable(job)}  ${head}${printable(found === undefined ? 'the pause has ended' : pauseText(found))}`]
}
