import { useId, useState } from 'preact/hooks'
import type { JobAnswer } from '../src/answers.ts'
import { freshId, pathOf } from './api.ts'
import { useChange } from './change.ts'
import { textOf } from './form-text.ts'
import { Command, Failure, quoted } from './parts.tsx'
import { href } from './route.ts'

interface ActionProps {
  readonly job: JobAnswer
  readonly reload: () => void
}

/** Run now, and pause or resume, of a row of the first view; made when it is opened, so that a long list stays small. */
export function JobActions({ job, reload }: ActionProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary aria-label={`Act on ${job.name}`}>Act</summary>
      {isOpen && (
        <div class="acts">
          <RunForm job={job} reload={reload} />
          {job.pause === null ? <PauseForm job={job} reload={reload} /> : <ResumeForm job={job} reload={reload} />}
        </div>
      )}
    </details>
  )
}

/** A run of its own, beside the schedule. */
export function RunForm({ job, reload }: ActionProps) {
  // One id for one press: a request that the browser sends twice starts nothing twice.
  const [requestId, setRequestId] = useState(() => freshId())
  const { state, error, answer, send } = useChange(() => {
    setRequestId(freshId())
    reload()
  })
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const note = textOf(new FormData(event.currentTarget as HTMLFormElement), 'why').trim()
    send(pathOf('api', 'jobs', job.name, 'run'), { requestId, ...(note === '' ? {} : { note }) })
  }
  return (
    <form class="act-form" onSubmit={submit}>
      <TextField name="why" label="Why" placeholder="kept with the run" />
      <button type="submit" disabled={state === 'sending' || job.fault !== ''}>
        Run now
      </button>
      <Outcome state={state} error={error} slot={answer?.slot} reason={answer?.reason} done="started" />
    </form>
  )
}

export function PauseForm({ job, reload }: ActionProps) {
  const { state, error, send } = useChange(reload)
  const [note, setNote] = useState('')
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const length = textOf(form, 'for').trim()
    const missed = textOf(form, 'missed')
    send(pathOf('api', 'jobs', job.name, 'pause'), {
      ...{ note: note.trim(), missed },
      ...(length === '' ? {} : { for: length }),
    })
  }
  return (
    <form class="act-form" onSubmit={submit}>
      <TextField name="note" label="Note" placeholder="why, for whoever finds it paused" onText={setNote} />
      <TextField name="for" label="For" placeholder="2h, or until resumed" size={14} />
      <MissedField />
      <button type="submit" disabled={state === 'sending' || note.trim() === ''} title="Needs a note">
        Pause
      </button>
      <Outcome state={state} error={error} done="paused" />
    </form>
  )
}

export function ResumeForm({ job, reload }: ActionProps) {
  const { state, error, send } = useChange(reload)
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const [note, missed] = [textOf(form, 'note').trim(), textOf(form, 'missed')]
    send(pathOf('api', 'jobs', job.name, 'resume'), {
      ...(note === '' ? {} : { note }),
      ...(job.pause === null ? {} : { pausedAt: job.pause.at }),
      ...(missed === '' ? {} : { missed }),
    })
  }
  return (
    <form class="act-form" onSubmit={submit}>
      <TextField name="note" label="Note" placeholder="optional" />
      <MissedField asPaused />
      <button type="submit" disabled={state === 'sending' || job.pause?.state === 'resuming'}>
        Resume
      </button>
      <Outcome state={state} error={error} done="resuming" />
    </form>
  )
}

interface SlotFormProps extends ActionProps {
  /** Filled in at first. */
  readonly slot: string
  readonly role: string
}

/** Runs one slot of the schedule; one that has ended is refused, and walked again only after that was understood (R4). */
export function SlotForm({ job, slot, role, reload }: SlotFormProps) {
  const { state, error, answer, send } = useChange(reload)
  const [asked, setAsked] = useState({ slot, note: '' })
  const [isUnderstood, setUnderstood] = useState(false)
  const path = () => pathOf('api', 'jobs', job.name, 'slots', asked.slot.trim(), 'run')
  const noted = asked.note.trim() === '' ? {} : { note: asked.note.trim() }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    setUnderstood(false)
    send(path(), noted)
  }
  const isDone = error?.code === 'CRONCE_SLOT_DONE'
  return (
    <form class="act-form" onSubmit={submit}>
      <TextField
        name="slot"
        label="Slot"
        value={asked.slot}
        size={38}
        placeholder={`${job.name}@20261128T010000Z`}
        onText={(text) => setAsked((before) => ({ ...before, slot: text }))}
      />
      <TextField
        name="why"
        label="Why"
        placeholder="kept with the run"
        onText={(text) => setAsked((before) => ({ ...before, note: text }))}
      />
      <button type="submit" disabled={state === 'sending' || asked.slot.trim() === ''}>
        Run this slot
      </button>
      <Outcome state={state} error={error} slot={answer?.slot} reason={answer?.reason} done="started" />
      {isDone && (
        <div class="confirm">
          <p>
            <strong>It has ended.</strong> Walking its plan again repeats no effect that has a receipt. An effect
            without one, in another system, may happen twice.
          </p>
          {role === 'admin' ? (
            <>
              <label>
                <input
                  type="checkbox"
                  checked={isUnderstood}
                  onInput={(event) => setUnderstood(event.currentTarget.checked)}
                />{' '}
                I know what its effects are, and want them where they are missing
              </label>{' '}
              <button
                type="button"
                class="danger"
                disabled={!isUnderstood || state === 'sending'}
                onClick={() => send(path(), { ...noted, ended: 'walk-again' })}
              >
                Walk it again
              </button>
            </>
          ) : (
            <p class="soft small">That needs the role admin.</p>
          )}
        </div>
      )}
      <p class="small soft">
        <Command text={`cronce trigger ${quoted(job.name)} --slot ${quoted(asked.slot.trim() || 'SLOT')}`} />
      </p>
    </form>
  )
}

interface TextFieldProps {
  readonly name: string
  readonly label: string
  readonly placeholder?: string
  readonly value?: string
  readonly size?: number
  readonly onText?: (text: string) => void
}

export function TextField({ name, label, placeholder, value, size = 28, onText }: TextFieldProps) {
  const id = useId()
  return (
    <span class="field">
      <label for={id}>{label}</label>
      <input
        {...{ id, name, size, maxLength: 1_000 }}
        {...(placeholder === undefined ? {} : { placeholder })}
        {...(value === undefined ? {} : { defaultValue: value })}
        onInput={(event) => onText?.(event.currentTarget.value)}
      />
    </span>
  )
}

function MissedField({ asPaused = false }: { asPaused?: boolean }) {
  const id = useId()
  return (
    <span class="field">
      <label for={id}>Slots meanwhile</label>
      <select id={id} name="missed">
        {asPaused && <option value="">as the pause said</option>}
        <option value="skip">are skipped</option>
        <option value="catch-up">catch up as after an outage</option>
      </select>
    </span>
  )
}

interface OutcomeProps {
  readonly state: 'idle' | 'sending' | 'done'
  readonly error: Parameters<typeof Failure>[0]['error'] | undefined
  readonly slot?: string | undefined
  readonly reason?: string | undefined
  readonly done: string
}

/** What came of it, where it was asked for. */
function Outcome({ state, error, slot, reason = '', done }: OutcomeProps) {
  return (
    <>
      <span role="status" class="outcome">
        {state === 'sending' && '…'}
        {state === 'done' && (
          <>
            {done} {slot !== undefined && <a href={href('runs', slot)}>{slot}</a>}
            {reason !== '' && `: ${reason}`}
          </>
        )}
      </span>
      {error !== undefined && <Failure error={error} />}
    </>
  )
}
