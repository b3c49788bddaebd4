import { useEffect, useState } from 'preact/hooks'
import type { SessionAnswer } from '../src/answers.ts'
import { change, RefusedRequest, read } from './api.ts'
import { LetterView } from './letter-view.tsx'
import { LettersView } from './letters-view.tsx'
import { Failure } from './parts.tsx'
import { ReplicasView } from './replicas-view.tsx'
import { href, type Route, useRoute } from './route.ts'
import { RunView } from './run-view.tsx'
import { RunsView } from './runs-view.tsx'
import { SchedulesView } from './schedules-view.tsx'
import { SignIn } from './sign-in.tsx'

const VIEWS = [
  ['', 'Schedules'],
  ['runs', 'Runs'],
  ['dead', 'Dead letters'],
  ['replicas', 'Replicas and workers'],
] as const

export function App() {
  const route = useRoute()
  const [session, setSession] = useState<SessionAnswer | 'none' | undefined>()
  const [error, setError] = useState<RefusedRequest | undefined>()

  useEffect(() => {
    const onOut = () => setSession('none')
    addEventListener('signed-out', onOut)
    read<SessionAnswer>('/api/session').then(setSession, (failure: unknown) => {
      if (failure instanceof RefusedRequest && failure.status === 401) setSession('none')
      else if (failure instanceof RefusedRequest) setError(failure)
    })
    return () => removeEventListener('signed-out', onOut)
  }, [])

  useEffect(() => {
    const name = VIEWS.find(([view]) => view === route.view)?.[1] ?? 'Not here'
    document.title = `${route.id ?? name} · Cronce`
  }, [route.view, route.id])

  if (error !== undefined)
    return (
      <main>
        <Failure error={error} />
      </main>
    )
  if (session === undefined) return null
  if (session === 'none') return <SignIn onSignedIn={setSession} />
  const signOut = () => void change('DELETE', '/api/session').finally(() => setSession('none'))
  return (
    <>
      <header>
        <b>cronce</b>
        <nav aria-label="Views">
          {VIEWS.map(([view, name]) => (
            <a key={view} href={href(view)} aria-current={route.view === view ? 'page' : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <span class="who soft">
          {session.service} · {session.name}, {session.role}{' '}
          <button type="button" class="plain" onClick={signOut}>
            sign out
          </button>
        </span>
      </header>
      <main>
        <View route={route} session={session} />
      </main>
    </>
  )
}

function View({ route, session }: { route: Route; session: SessionAnswer }) {
  const { view, id, query } = route
  const mayChange = session.role !== 'viewer'
  switch (view) {
    case '':
      return <SchedulesView mayChange={mayChange} cursor={query.get('after') ?? undefined} />
    case 'runs':
      return id === undefined ? <RunsView query={query} /> : <RunView key={id} slot={id} />
    case 'dead':
      return id === undefined ? <LettersView query={query} /> : <LetterView key={id} id={id} mayChange={mayChange} />
    case 'replicas':
      return <ReplicasView />
    default:
      return (
        <p>
          There is no such view. <a href={href('')}>Schedules</a>
        </p>
      )
  }
}
