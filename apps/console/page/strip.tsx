import { useRef, useState } from 'preact/hooks'
import type { Mark, RunAnswer } from '../src/answers.ts'
import { href } from './route.ts'
import { entitiesText, lengthText, utcText } from './text.ts'

const TALL = 34
const LEAST = 8

export const MARK_NAMES: Readonly<Record<Mark, string>> = {
  ran: 'ran',
  late: 'ran late',
  partial: 'partial',
  failed: 'failed',
  skipped: 'skipped',
  missed: 'missed',
  running: 'running',
  waiting: 'waiting',
}

/** The last slots of a job, oldest first. One stop of the Tab key; the arrow keys go from slot to slot. */
export function Strip({ job, slots }: { job: string; slots: readonly RunAnswer[] }) {
  const [shown, setShown] = useState<string | undefined>()
  const [stop, setStop] = useState<string | undefined>()
  const list = useRef<HTMLDivElement>(null)
  if (slots.length === 0) return <p class="soft strip-empty">no slot yet</p>
  const longestMs = Math.max(1, ...slots.map(({ durationMs }) => durationMs ?? 0))
  const tabStop = slots.some(({ slot }) => slot === stop) ? stop : slots.at(-1)?.slot
  const current = slots.find(({ slot }) => slot === shown)

  const onKeyDown = (event: KeyboardEvent) => {
    const bars = [...(list.current?.children ?? [])] as HTMLElement[]
    const at = bars.indexOf(document.activeElement as HTMLElement)
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: bars.length - 1 }[event.key]
    if (event.key === 'Escape') setShown(undefined)
    if (to === undefined || bars[to] === undefined) return
    event.preventDefault()
    bars[to].focus()
  }

  return (
    <div class="strip-box" onMouseLeave={() => setShown(undefined)}>
      <div
        class="strip"
        role="group"
        aria-label={`Last ${slots.length} slots of ${job}`}
        ref={list}
        onKeyDown={onKeyDown}
      >
        {slots.map((run) => (
          <a
            key={run.slot}
            class={run.mark}
            href={href('runs', run.slot)}
            tabIndex={run.slot === tabStop ? 0 : -1}
            aria-label={describe(run)}
            style={{ height: `${heightOf(run, longestMs)}px` }}
            onMouseEnter={() => setShown(run.slot)}
            onFocus={() => {
              setShown(run.slot)
              setStop(run.slot)
            }}
            onBlur={() => setShown(undefined)}
          />
        ))}
      </div>
      {current !== undefined && <Tip run={current} />}
    </div>
  )
}

function Tip({ run }: { run: RunAnswer }) {
  const figures = [
    run.latenessMs === null ? '' : `late ${lengthText(run.latenessMs)}`,
    run.durationMs === null ? '' : `took ${lengthText(run.durationMs)}`,
    entitiesText(run.entities),
    run.gap === null ? '' : `${run.gap.count} slots`,
  ].filter((text) => text !== '')
  return (
    <div class="tip" role="tooltip">
      <div class="mono">{run.slot}</div>
      <div>
        <b class={`word ${run.mark}`}>{MARK_NAMES[run.mark]}</b> {reasonOf(run)}
      </div>
      {figures.length > 0 && <div>{figures.join(' · ')}</div>}
      <div class="soft">
        {run.local}
        {run.local !== utcText(run.at) && ` · ${utcText(run.at)}`}
        {run.by !== null && ` · claimed by ${run.by}`}
      </div>
    </div>
  )
}

function reasonOf({ reason, why, cause }: RunAnswer): string {
  return [reason ?? '', why ?? '', cause === null || cause === 'on-time' ? '' : cause].filter(Boolean).join(', ')
}

function describe(run: RunAnswer): string {
  const late = run.latenessMs === null ? '' : `late ${lengthText(run.latenessMs)}`
  const took = run.durationMs === null ? '' : `took ${lengthText(run.durationMs)}`
  const parts = [run.slot, MARK_NAMES[run.mark], reasonOf(run), late, took, entitiesText(run.entities)]
  return parts.filter(Boolean).join(', ')
}

function heightOf({ mark, durationMs }: RunAnswer, longestMs: number): number {
  if (mark === 'missed' || mark === 'running') return TALL
  if (mark === 'skipped' || mark === 'waiting') return LEAST - 1
  return Math.round(LEAST + (TALL - LEAST) * ((durationMs ?? 0) / longestMs))
}
