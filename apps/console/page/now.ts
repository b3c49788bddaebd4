import { useEffect, useRef, useState } from 'preact/hooks'

const TICK_MS = 1_000

/** The present instant by the server, which told it with the answer: it goes on while no other answer comes. */
export function useNow(toldAt: number): number {
  const heard = useRef({ toldAt, at: performance.now() })
  if (heard.current.toldAt !== toldAt) heard.current = { toldAt, at: performance.now() }
  const [, setTick] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => setTick((count) => count + 1), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  return toldAt + Math.round(performance.now() - heard.current.at)
}
