import type { PresenceAnswer, ProcessAnswer, QueueAnswer } from '../src/answers.ts'
import { useLive } from './live.ts'
import { useNow } from './now.ts'
import { Command, Copy, Pill, Shown } from './parts.tsx'
import { jobHref } from './route.ts'
import { countText, fromNowText, lengthText, numberText } from './text.ts'

/** A clock that is further off is warned of by its replica. */
const SKEW_WARN_MS = 1_000

/** A trigger loop that was later is busy or starved. */
const LOOP_WARN_MS = 1_000

/** Jobs of a queue that are named. */
const NAMED = 8

export function ReplicasView() {
  const live = useLive<PresenceAnswer>('/api/presence', { of: 'presence' })
  return <Shown live={live}>{(presence) => <Presence presence={presence} />}</Shown>
}

function Presence({ presence }: { presence: PresenceAnswer }) {
  const { replicas, workers, queues } = presence
  const now = useNow(presence.now)
  const releases = new Set(
    [...replicas, ...workers].filter(({ state }) => state === 'live').map(({ release }) => release),
  )
  const zones = new Set(replicas.filter(({ state }) => state === 'live').map(({ tzdata }) => tzdata))
  return (
    <>
      <div class="bar">
        <h1>Replicas</h1>
        <span class="soft small">{standingText(replicas)}</span>
        <Command text="cronce replicas" />
      </div>
      {releases.size > 1 && (
        <p class="notice">
          {releases.size} releases side by side: {[...releases].toSorted().join(', ')}. During a rollout that is as it
          should be.
        </p>
      )}
      {zones.size > 1 && (
        <p class="notice">
          Replicas have different tzdata ({[...zones].toSorted().join(', ')}): a job whose zone they read differently is
          fired by those that agree with its definition only.
        </p>
      )}
      {replicas.length === 0 ? (
        <p class="empty">No replica was heard of within the last hour: nothing fires.</p>
      ) : (
        <ProcessTable
          processes={replicas}
          now={now}
          head={['Jobs', 'Clock skew', 'Loop late', 'tzdata']}
          cells={({ jobs, skewMs, loopLateMs, tzdata }) => [
            [String(jobs), ''],
            [`${Math.round(skewMs)} ms`, Math.abs(skewMs) >= SKEW_WARN_MS ? 'warn-text' : ''],
            [lengthText(loopLateMs), loopLateMs >= LOOP_WARN_MS ? 'warn-text' : ''],
            [tzdata, 'soft'],
          ]}
        />
      )}
      <div class="bar">
        <h1>Workers</h1>
        <span class="soft small">{standingText(workers)}</span>
      </div>
      {workers.length === 0 ? (
        <p class="empty">No worker was heard of within the last hour: nothing runs.</p>
      ) : (
        <ProcessTable
          processes={workers}
          now={now}
          head={['Queues', 'In hand', 'Handlers']}
          cells={({ queues: served, active, jobs }) => [
            [
              Object.entries(served)
                .map(([name, most]) => `${name} ×${most}`)
                .join(', '),
              '',
            ],
            [String(active), ''],
            [String(jobs), ''],
          ]}
        />
      )}
      <h1>Queues</h1>
      {queues.length === 0 ? <p class="empty">No job has a queue yet.</p> : <Queues queues={queues} />}
    </>
  )
}

function standingText(processes: readonly ProcessAnswer[]): string {
  const counts = new Map<string, number>()
  for (const { state } of processes) counts.set(state, (counts.get(state) ?? 0) + 1)
  return [...counts].map(([state, count]) => `${count} ${state}`).join(', ')
}

interface TableProps<P extends ProcessAnswer> {
  readonly processes: readonly P[]
  readonly now: number
  readonly head: readonly string[]
  /** Text and class of each cell. */
  readonly cells: (process: P) => readonly (readonly [string, string])[]
}

function ProcessTable<P extends ProcessAnswer>({ processes, now, head, cells }: TableProps<P>) {
  return (
    <table class="cards">
      <thead>
        <tr>
          {['Name', 'State', 'Release', 'Host', 'Up', ...head].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {processes.map((process) => (
          <tr key={process.id} class={process.state === 'silent' ? 'alarm' : ''}>
            <td class="mono">
              {process.id} <Copy text={process.id} />
            </td>
            <td>
              <Pill text={process.state} /> <span class="small soft">heard of {fromNowText(process.heardAt, now)}</span>
            </td>
            <td data-name="release">{process.release}</td>
            <td class="small">
              {process.host}, pid {process.pid}
            </td>
            <td class="small num-left" data-name="up">
              {process.state === 'left' ? '–' : lengthText(Math.max(0, now - process.startedAt))}
            </td>
            {cells(process).map(([text, tone], index) => (
              <td key={head[index]} class={`small num-left ${tone}`} data-name={head[index]?.toLowerCase()}>
                {text}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Queues({ queues }: { queues: readonly QueueAnswer[] }) {
  return (
    <table class="cards">
      <thead>
        <tr>
          <th scope="col">Queue</th>
          <th scope="col">Served by</th>
          {['Waiting', 'Active', 'Delayed'].map((name) => (
            <th key={name} scope="col" class="num">
              {name}
            </th>
          ))}
          <th scope="col">Jobs</th>
        </tr>
      </thead>
      <tbody>
        {queues.map(({ name, workers, places, waiting, active, delayed, jobs }) => (
          <tr key={name} class={workers === 0 && jobs.length > 0 ? 'alarm' : ''}>
            <td class="mono">{name}</td>
            <td>
              {workers === 0 ? (
                <Pill text="nobody" tone={jobs.length > 0 ? 'bad' : ''} />
              ) : (
                <span class="small">
                  {countText(workers, 'worker')}, {countText(places, 'place')}
                </span>
              )}
            </td>
            {[
              ['waiting', waiting],
              ['active', active],
              ['delayed', delayed],
            ].map(([title, count]) => (
              <td key={title} class="num" data-name={title}>
                {numberText(Number(count))}
              </td>
            ))}
            <td class="small">
              {jobs.slice(0, NAMED).map((job, index) => (
                <span key={job}>
                  {index > 0 && ', '}
                  <a href={jobHref(job)}>{job}</a>
                </span>
              ))}
              {jobs.length > NAMED && ` and ${jobs.length - NAMED} more`}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
