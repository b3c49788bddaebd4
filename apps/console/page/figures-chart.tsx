import { useEffect, useRef, useState } from 'preact/hooks'
import type { PointAnswer } from '../src/job-answers.ts'
import type { Drawn } from './chart.ts'

/** Lateness, and duration against the interval, over time. Drawn by a library that is loaded with the first chart. */
export function FiguresChart({ points }: { points: readonly PointAnswer[] }) {
  const box = useRef<HTMLDivElement>(null)
  const drawn = useRef<Drawn | undefined>(undefined)
  const newest = useRef(points)
  newest.current = points
  const [state, setState] = useState<'loading' | 'drawn' | 'failed'>('loading')

  useEffect(() => {
    let isGone = false
    const load = async () => {
      try {
        const { draw } = await import('./chart.ts')
        if (isGone || box.current === null) return
        drawn.current = draw(box.current, newest.current)
        setState('drawn')
      } catch {
        setState('failed')
      }
    }
    void load()
    return () => {
      isGone = true
      drawn.current?.remove()
      drawn.current = undefined
    }
  }, [])
  // Only what is another drawing is drawn again: it would undo a zoom.
  const drawing = points.map(({ slot, latenessMs, durationMs }) => `${slot} ${latenessMs} ${durationMs}`).join()
  useEffect(() => drawn.current?.show(newest.current), [drawing])

  return (
    <figure class="chart">
      {/* The table below has the same figures for those who do not see it. */}
      <div ref={box} aria-hidden="true" />
      <figcaption class="soft small">
        {state === 'failed'
          ? 'The chart could not be loaded; the table has the same figures.'
          : 'Each point is a slot, in UTC; heights are logarithms, so that milliseconds and hours fit one picture. Draw over a stretch to look closer. A press on a point opens its run.'}
      </figcaption>
    </figure>
  )
}
