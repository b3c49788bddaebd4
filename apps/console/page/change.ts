import { useState } from 'preact/hooks'
import { change, RefusedRequest } from './api.ts'

/** What changes answer: the slot that was started, where one was. */
interface Changed {
  readonly slot?: string
  readonly status?: string
  readonly reason?: string
}

/** One change at a time, and what came of it. */
export function useChange(onDone: () => void) {
  const [state, setState] = useState<'idle' | 'sending' | 'done'>('idle')
  const [error, setError] = useState<RefusedRequest | undefined>()
  const [answer, setAnswer] = useState<Changed | undefined>()
  const ask = async (path: string, body: object) => {
    setState('sending')
    setError(undefined)
    setAnswer(undefined)
    try {
      setAnswer(await change<Changed>('POST', path, body))
      setState('done')
    } catch (failure) {
      setState('idle')
      const isRefusal = failure instanceof RefusedRequest
      setError(isRefusal ? failure : new RefusedRequest(0, { code: 'AWAY', message: String(failure) }))
    }
    // Also where it was refused: what is shown was older than the refusal.
    onDone()
  }
  const send = (path: string, body: object) => void ask(path, body)
  const reset = () => {
    setState('idle')
    setError(undefined)
    setAnswer(undefined)
  }
  return { state, error, answer, send, reset }
}
