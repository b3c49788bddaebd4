import type { GenerationAnswer, JobDetailsAnswer, JobEventAnswer } from '../src/job-answers.ts'
import { Copy, Facts, Pill } from './parts.tsx'
import { href } from './route.ts'
import { utcText } from './text.ts'

/** What the job is, in words and as it is stored, what it was, and what was done to it. */
export function JobDefinition({ details }: { details: JobDetailsAnswer }) {
  const { job, words, settings, image, registeredAt, generations, events } = details
  const json = JSON.stringify(settings, null, 2)
  return (
    <>
      <h2>Definition</h2>
      {job.fault === '' ? (
        <Facts facts={[...words, ['Registered', utcText(registeredAt)], ['Image', <code key="image">{image}</code>]]} />
      ) : (
        <p class="failure">This release cannot read it: {job.fault}</p>
      )}
      <details>
        <summary>As JSON</summary>
        <Copy text={json} name="copy all" />
        <pre>{json}</pre>
      </details>
      <h2>Edits</h2>
      <p class="soft small">
        Each definition is in force for the slots after it, up to the next one. Its slots keep it: an edit changes
        nothing that was due before.
      </p>
      <ol class="generations">
        {generations.map((row) => (
          <Generation key={row.generation} row={row} />
        ))}
      </ol>
      <h2>
        What was done to it <a href={href('audit', undefined, { job: job.name })}>audit and journal</a>
      </h2>
      {events.length === 0 ? <p class="empty">Nothing yet.</p> : <Events events={events} />}
    </>
  )
}

function Generation({ row }: { row: GenerationAnswer }) {
  const { generation, sinceAt, untilAt, by, schedule, changes } = row
  return (
    <li>
      <div>
        <b>Generation {generation}</b> {untilAt === null && <Pill text="in force" tone="ok" />}{' '}
        <span class="mono">{schedule}</span>
      </div>
      <div class="soft small">
        <span class="inst">{utcText(sinceAt)}</span>
        {untilAt !== null && (
          <>
            {' '}
            to <span class="inst">{utcText(untilAt)}</span>
          </>
        )}
        {by !== '' && `, registered by ${by}`}
      </div>
      {changes.length > 0 && (
        <ul class="small changes-list">
          {changes.map(({ path, before, after }) => (
            <li key={path}>
              {path}: <del>{before === '' ? 'not set' : before}</del> → <ins>{after === '' ? 'not set' : after}</ins>
            </li>
          ))}
        </ul>
      )}
    </li>
  )
}

function Events({ events }: { events: readonly JobEventAnswer[] }) {
  return (
    <table class="cards">
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">What</th>
          <th scope="col">Who</th>
          <th scope="col">Note</th>
        </tr>
      </thead>
      <tbody>
        {events.map((event, index) => (
          <tr key={`${event.at} ${index}`}>
            <td class="mono small inst">{utcText(event.at)}</td>
            <td>
              <b>{event.event}</b>
            </td>
            <td class="small">{event.by}</td>
            <td class="small soft">
              {event.note} {event.image !== null && <span class="mono">image {event.image}</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
