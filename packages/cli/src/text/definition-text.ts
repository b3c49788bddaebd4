import { type CatchUp, formatDuration, type JobDefinition, type JobSettings, type ScheduleWarning } from '@cronce/core'
import type { Terminal } from '../terminal.ts'
import { wrap } from './display-width.ts'
import { printable } from './printable.ts'
import { expressionText, zoneText } from './schedule-text.ts'
import { table } from './table.ts'

export interface CheckedDefinitions {
  readonly jobs: readonly JobDefinition[]
  readonly warnings: readonly ScheduleWarning[]
  readonly errors: readonly { readonly path: string; readonly message: string }[]
  readonly terminal: Terminal
}

/** Every definition on a line, what is to be noted of it below it, and errors at the end. */
export function definitionLines({ jobs, warnings, errors, terminal }: CheckedDefinitions): string[] {
  const { width, paint } = terminal
  const lines = table({
    columns: ['job', 'schedule', 'zone', 'on crash', 'catch-up', 'overlap'].map((title) => ({ title })),
    rows: jobs.map(({ name, schedule, onCrash, catchUp, overlap }) => [
      name,
      expressionText(schedule),
      zoneText(schedule),
      onCrash,
      catchUpText(catchUp),
      `overlap ${overlap}`,
    ]),
    width,
    paint,
    titles: 'hidden',
  })
  const notes = warnings.flatMap(({ job, text }) => hanging(`${job}: ${text}`, width))
  const faults = errors.flatMap(({ path, message }) =>
    hanging(path === '' ? message : `${path}: ${message}`, width).map((line) => paint(line, 'bad')),
  )
  return [...lines, ...notes, ...faults]
}

/** What a definition says, in JSON. */
export function settingsJson(job: JobSettings): Readonly<Record<string, unknown>> {
  const { name, schedule, onCrash, catchUp, overlap, tolerance, chunk, retry, timeoutMs, queue, version, redact } = job
  return {
    name,
    schedule,
    onCrash,
    catchUp,
    overlap,
    tolerance,
    chunk,
    retry,
    timeoutMs,
    queue,
    version,
    redact: redact ?? null,
  }
}

function catchUpText({ mode, withinMs }: CatchUp): string {
  return mode === 'late' ? `late ${formatDuration(withinMs)}` : mode
}

function hanging(text: string, width: number): string[] {
  return wrap(printable(text), width - 5).map((line, index) => `${index === 0 ? '   ' : '     '}${line}`)
}
