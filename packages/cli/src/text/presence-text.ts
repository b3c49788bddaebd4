import type { PresenceState, Presences } from '@cronce/operations'
import type { Terminal } from '../terminal.ts'
import { durationText } from './duration-text.ts'
import { type Cell, table } from './table.ts'
import type { Tone } from './tone.ts'

const TONES: Readonly<Record<PresenceState, Tone>> = { live: 'good', silent: 'bad', left: 'dim' }

export function presenceLines({ replicas, workers, now }: Presences, { width, paint }: Terminal): string[] {
  const heard = (heardAt: number): string => `${durationText(now - heardAt)} ago`
  return [
    ...table({
      columns: [
        { title: 'replica' },
        { title: 'state' },
        { title: 'heard' },
        { title: 'release' },
        { title: 'jobs' },
        { title: 'skew' },
      ],
      rows: replicas.map(({ id, state, heardAt, release, jobs, skewMs }) => [
        id,
        stateCell(state),
        heard(heardAt),
        release,
        String(jobs),
        `${skewMs} ms`,
      ]),
      width,
      paint,
    }),
    ...table({
      columns: [
        { title: 'worker' },
        { title: 'state' },
        { title: 'heard' },
        { title: 'release' },
        { title: 'active' },
        { title: 'queues' },
      ],
      rows: workers.map(({ id, state, heardAt, release, active, queues }) => [
        id,
        stateCell(state),
        heard(heardAt),
        release,
        String(active),
        queuesText(queues),
      ]),
      width,
      paint,
    }),
  ]
}

function stateCell(state: PresenceState): Cell {
  return { text: state, tone: TONES[state] }
}

function queuesText(queues: Readonly<Record<string, number>>): string {
  return Object.entries(queues)
    .map(([queue, concurrency]) => `${queue}:${concurrency}`)
    .join(',')
}
