import { useState } from 'preact/hooks'
import type { SessionAnswer } from '../src/answers.ts'
import { change, RefusedRequest } from './api.ts'
import { textOf } from './form-text.ts'
import { Failure } from './parts.tsx'

/** By a token; the link that the console logs at its start needs no form. */
export function SignIn({ onSignedIn }: { onSignedIn: (session: SessionAnswer) => void }) {
  const [error, setError] = useState<RefusedRequest | undefined>()
  const isUsed = new URLSearchParams(location.search).get('link') === 'used'
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const token = textOf(new FormData(event.currentTarget as HTMLFormElement), 'token')
    try {
      const session = await change<SessionAnswer>('POST', '/api/session', { token })
      history.replaceState(null, '', `/${location.hash}`)
      onSignedIn(session)
    } catch (failure) {
      if (failure instanceof RefusedRequest) setError(failure)
    }
  }
  return (
    <main class="sign-in">
      <h1>Cronce</h1>
      {isUsed && <p class="failure">The sign-in link works once, and has been used or is not of this console.</p>}
      <p class="soft">
        Follow the sign-in link that the console logs when it starts, or give a token of{' '}
        <code>CRONCE_CONSOLE_TOKENS</code>.
      </p>
      <form onSubmit={(event) => void submit(event)}>
        <label for="token">Token</label>
        <input id="token" name="token" type="password" autocomplete="current-password" required />
        <button type="submit">Sign in</button>
      </form>
      {error !== undefined && <Failure error={error} />}
    </main>
  )
}
