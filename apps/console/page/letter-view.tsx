import { useState } from 'preact/hooks'
import type { KeptErrorAnswer, LetterAnswer } from '../src/letter-answers.ts'
import { pathOf } from './api.ts'
import { useChange } from './change.ts'
import { Reveal } from './letter-reveal.tsx'
import { useLive } from './live.ts'
import { Failure, Id, Pill, quoted, Shown } from './parts.tsx'
import { href } from './route.ts'
import { countText, utcText } from './text.ts'

/** Characters of a payload that are shown unasked. */
const SHOWN_UNASKED = 20_000

export function LetterView({ id, role }: { id: string; role: string }) {
  const live = useLive<LetterAnswer>(pathOf('api', 'dead', id))
  const [revealed, setRevealed] = useState<LetterAnswer | undefined>()
  return (
    <>
      <div class="bar">
        <h1>Dead letter</h1>
        <Id text={id} />
      </div>
      <Shown live={live}>
        {(letter) => (
          <>
            <p>
              <Pill text={letter.state} tone={letter.state === 'open' ? 'bad' : 'ok'} /> {letter.reason}; entity{' '}
              <b>{letter.entity ?? 'none: the run itself'}</b> of{' '}
              <a class="mono" href={href('runs', letter.slot)}>
                {letter.slot}
              </a>
            </p>
            <p class="small soft">
              {countText(letter.attempts, 'attempt')}, died {countText(letter.lives, 'time')}, last at{' '}
              {utcText(letter.at)}, worker {letter.worker}, release {letter.release}
              {letter.discardReason !== null && `; discarded: ${letter.discardReason}`}
            </p>
            {role !== 'viewer' && <Changes letter={letter} reload={live.reload} />}
            <h2>Payload</h2>
            {letter.redacted && revealed === undefined && <Reveal id={id} role={role} onRevealed={setRevealed} />}
            <Payload value={(revealed ?? letter).payload} />
            <h2>Errors, newest first</h2>
            {(revealed ?? letter).errors.map((error) => (
              <KeptError key={`${error.at} ${error.attempt}`} error={error} />
            ))}
          </>
        )}
      </Shown>
    </>
  )
}

function Changes({ letter, reload }: { letter: LetterAnswer; reload: () => void }) {
  const [note, setNote] = useState('')
  const { state, error, send } = useChange(reload)
  const at = (verb: string) => pathOf('api', 'dead', letter.id, verb)
  const isOpen = letter.state === 'open' && state !== 'sending'
  return (
    <div class="changes">
      <button type="button" class="main" disabled={!isOpen} onClick={() => send(at('redrive'), { at: letter.at })}>
        Redrive
      </button>
      <span class="soft small">runs this entity again under its slot; effects that have receipts are not repeated</span>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          send(at('discard'), { note, at: letter.at })
        }}
      >
        <label>
          Note <input value={note} maxLength={1_000} required onInput={(event) => setNote(event.currentTarget.value)} />
        </label>
        <button type="submit" disabled={!isOpen || note.trim() === ''}>
          Discard
        </button>
      </form>
      <div role="status">{state === 'done' && `It is ${letter.state === 'open' ? 'on its way' : letter.state}.`}</div>
      {error !== undefined && <Failure error={error} />}
      <div class="small soft">
        <Id text={`cronce dead retry ${quoted(letter.id)}`} />
      </div>
    </div>
  )
}

function Payload({ value }: { value: unknown }) {
  const [isWhole, setWhole] = useState(false)
  const text = JSON.stringify(value, null, 2) ?? 'none'
  const isCut = text.length > SHOWN_UNASKED && !isWhole
  return (
    <>
      <pre tabIndex={0}>{isCut ? text.slice(0, SHOWN_UNASKED) : text}</pre>
      {isCut && (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {text.length} characters
        </button>
      )}
    </>
  )
}

function KeptError({ error }: { error: KeptErrorAnswer }) {
  return (
    <details class="kept">
      <summary>
        <b>{error.name}</b>: {error.message.slice(0, 500)}{' '}
        <span class="soft small">
          attempt {error.attempt}, {utcText(error.at)}, {error.worker}
        </span>
      </summary>
      <pre tabIndex={0}>{error.stack ?? error.message}</pre>
    </details>
  )
}
