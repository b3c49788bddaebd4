import { useEffect, useRef, useState } from 'preact/hooks'
import type { SessionAnswer } from '../src/answers.ts'
import { change, RefusedRequest, read } from './api.ts'
import { AuditView } from './audit-view.tsx'
import { JobView } from './job-view.tsx'
import { LetterView } from './letter-view.tsx'
import { LettersView } from './letters-view.tsx'
import { Failure } from './parts.tsx'
import { ReplicasView } from './replicas-view.tsx'
import { href, type Route, useRoute } from './route.ts'
import { RunView } from './run-view.tsx'
import { RunsView } from './runs-view.tsx'
import { SchedulesView } from './schedules-view.tsx'
import { SignIn } from './sign-in.tsx'
import { useStreamState } from './stream.ts'

const VIEWS = [
  ['', 'Schedules'],
  ['runs', 'Runs'],
  ['dead', 'Dead letters'],
  ['replicas', 'Replicas and workers'],
  ['audit', 'Audit'],
] as const

export function App() {
  const route = useRoute()
  const [session, setSession] = useState<SessionAnswer | 'none' | undefined>()
  const [error, setError] = useState<RefusedRequest | undefined>()
  const place = `${route.view}/${route.id ?? ''}`

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
    const name = VIEWS.find(([view]) => view === route.view)?.[1] ?? (route.view === 'jobs' ? 'Job' : 'Not here')
    document.title = `${route.id ?? name} · Cronce`
  }, [route.view, route.id])

  if (error !== undefined)
    return (
      <main>
        <Failure error={error} />
        <button type="button" onClick={() => location.reload()}>
          Try again
        </button>
      </main>
    )
  if (session === undefined) return null
  if (session === 'none') return <SignIn onSignedIn={setSession} />
  const signOut = () => void change('DELETE', '/api/session').finally(() => setSession('none'))
  return (
    <>
      <Header route={route} session={session} onSignOut={signOut} />
      <Main place={place}>
        <View route={route} session={session} />
      </Main>
    </>
  )
}

interface HeaderProps {
  readonly route: Route
  readonly session: SessionAnswer
  readonly onSignOut: () => void
}

function Header({ route, session, onSignOut }: HeaderProps) {
  const skip = (event: MouseEvent) => {
    // The fragment is the page's route: the target is focused, not gone to.
    event.preventDefault()
    document.querySelector<HTMLElement>('main')?.focus()
  }
  return (
    <header>
      <a class="skip" href="#main" onClick={skip}>
        Skip to content
      </a>
      <b>cronce</b>
      <nav aria-label="Views">
        {VIEWS.map(([view, name]) => (
          <a key={view} href={href(view)} aria-current={route.view === view ? 'page' : undefined}>
            {name}
          </a>
        ))}
      </nav>
      <span class="who soft">
        <Liveness /> {session.service} · {session.name}, {session.role}{' '}
        <button type="button" class="plain" onClick={onSignOut}>
          sign out
        </button>
      </span>
    </header>
  )
}

function Liveness() {
  const state = useStreamState()
  return state === 'live' ? (
    <span class="stream live" title="The console tells this page what changes">
      live
    </span>
  ) : (
    <span class="stream" title="No live stream: this page asks every two seconds">
      polling
    </span>
  )
}

/** What a keyboard or a screen reader goes on from after the view has changed. */
function Main({ place, children }: { place: string; children: preact.ComponentChildren }) {
  const main = useRef<HTMLElement>(null)
  const shown = useRef(place)
  useEffect(() => {
    if (shown.current === place) return
    shown.current = place
    main.current?.focus({ preventScroll: true })
    scrollTo(0, 0)
  }, [place])
  return (
    <main id="main" tabIndex={-1} ref={main}>
      {children}
    </main>
  )
}

function View({ route, session }: { route: Route; session: SessionAnswer }) {
  const { view, id, part, query } = route
  const mayChange = session.role !== 'viewer'
  switch (view) {
    case '':
      return <SchedulesView mayChange={mayChange} query={query} />
    case 'jobs':
      if (id !== undefined) return <JobView key={id} name={id} part={part} query={query} role={session.role} />
      return <SchedulesView mayChange={mayChange} query={query} />
    case 'runs':
      return id === undefined ? <RunsView query={query} /> : <RunView key={id} slot={id} mayChange={mayChange} />
    case 'dead':
      return id === undefined ? (
        <LettersView query={query} role={session.role} />
      ) : (
        <LetterView key={id} id={id} role={session.role} />
      )
    case 'replicas':
      return <ReplicasView />
    case 'audit':
      return <AuditView query={query} />
    default:
      return (
        <p>
          There is no such view. <a href={href('')}>Schedules</a>
        </p>
      )
  }
}
