import { useState } from 'preact/hooks'
import type { LetterAnswer } from '../src/letter-answers.ts'
import { change, pathOf, RefusedRequest } from './api.ts'
import { Failure } from './parts.tsx'

interface RevealProps {
  readonly id: string
  readonly role: string
  readonly onRevealed: (letter: LetterAnswer) => void
}

/** What a definition hides of a letter: said to everybody, shown to an admin who asks, and written into the journal. */
export function Reveal({ id, role, onRevealed }: RevealProps) {
  const [note, setNote] = useState('')
  const [error, setError] = useState<RefusedRequest | undefined>()
  const reveal = async () => {
    setError(undefined)
    try {
      const body = note.trim() === '' ? {} : { note }
      onRevealed(await change<LetterAnswer>('POST', pathOf('api', 'dead', id, 'reveal'), body))
    } catch (failure) {
      const isRefusal = failure instanceof RefusedRequest
      setError(isRefusal ? failure : new RefusedRequest(0, { code: 'AWAY', message: String(failure) }))
    }
  }
  if (role !== 'admin')
    return <p class="small soft">The job’s definition hides a part of it; an admin can have it shown.</p>
  return (
    <form
      class="changes"
      onSubmit={(event) => {
        event.preventDefault()
        void reveal()
      }}
    >
      <label>
        Why <input value={note} maxLength={1_000} onInput={(event) => setNote(event.currentTarget.value)} />
      </label>
      <button type="submit">Reveal</button>
      <span class="soft small">The job’s definition hides a part of it; the journal will say that you saw it.</span>
      {error !== undefined && <Failure error={error} />}
    </form>
  )
}
