import type { PresenceAnswer } from '../src/answers.ts'
import { useLive } from './live.ts'
import { Pill, Shown } from './parts.tsx'
import { fromNowText, lengthText } from './text.ts'

export function ReplicasView() {
  const live = useLive<PresenceAnswer>('/api/presence')
  return (
    <Shown live={live}>
      {({ replicas, workers, now }) => (
        <>
          <h1>Replicas</h1>
          {replicas.length === 0 ? (
            <p class="empty">No replica was heard of within the last hour: nothing fires.</p>
          ) : (
            <ProcessTable processes={replicas} now={now} head={['Skew', 'Loop late']}>
              {({ skewMs, loopLateMs }) => [`${Math.round(skewMs)} ms`, lengthText(loopLateMs)]}
            </ProcessTable>
          )}
          <h1>Workers</h1>
          {workers.length === 0 ? (
            <p class="empty">No worker was heard of within the last hour: nothing runs.</p>
          ) : (
            <ProcessTable processes={workers} now={now} head={['Queues', 'In hand']}>
              {({ queues, active }) => [
                Object.entries(queues)
                  .map(([name, most]) => `${name} ×${most}`)
                  .join(', '),
                String(active),
              ]}
            </ProcessTable>
          )}
        </>
      )}
    </Shown>
  )
}

type Process = PresenceAnswer['replicas'][number] | PresenceAnswer['workers'][number]

interface TableProps<P extends Process> {
  readonly processes: readonly P[]
  readonly now: number
  readonly head: readonly string[]
  readonly children: (process: P) => readonly string[]
}

function ProcessTable<P extends Process>({ processes, now, head, children }: TableProps<P>) {
  return (
    <table class="cards">
      <thead>
        <tr>
          {['Name', 'State', 'Release', 'Host', 'Up', ...head].map((name) => (
            <th key={name}>{name}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {processes.map((process) => (
          <tr key={process.id}>
            <td class="mono">{process.id}</td>
            <td>
              <Pill text={process.state} />{' '}
              {process.state !== 'live' && <span class="small soft">{fromNowText(process.heardAt, now)}</span>}
            </td>
            <td>{process.release}</td>
            <td class="small">
              {process.host}, pid {process.pid}
            </td>
            <td class="num" data-name="up">
              {lengthText(Math.max(0, now - process.startedAt))}
            </td>
            {children(process).map((text, index) => (
              <td key={head[index]} class="small" data-name={head[index]?.toLowerCase()}>
                {text}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
