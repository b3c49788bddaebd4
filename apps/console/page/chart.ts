import uPlot from 'uplot'
import type { PointAnswer } from '../src/job-answers.ts'
import { href } from './route.ts'
import { lengthText } from './text.ts'

/** Charts in a box of the page. */
export interface Drawn {
  readonly show: (points: readonly PointAnswer[]) => void
  readonly remove: () => void
}

const HEIGHT = 190

/** Heights are logarithms, milliseconds beside hours; nothing has the logarithm of nothing. */
const LEAST_MS = 1

/** Two charts, one above the other, whose pointers move together. */
export function draw(box: HTMLElement, first: readonly PointAnswer[]): Drawn {
  let points = first
  let charts: uPlot[] = []
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const make = () => {
    for (const chart of charts) chart.destroy()
    charts = [lateness(box, points), durations(box, points)]
    for (const chart of charts) openOnPress(chart, () => points)
  }
  const resized = new ResizeObserver(() => {
    for (const chart of charts) chart.setSize({ width: widthOf(box), height: HEIGHT })
  })
  make()
  resized.observe(box)
  dark.addEventListener('change', make)
  return {
    show(next) {
      points = next
      charts[0]?.setData(latenessData(points))
      charts[1]?.setData(durationData(points))
    },
    remove() {
      resized.disconnect()
      dark.removeEventListener('change', make)
      for (const chart of charts) chart.destroy()
    },
  }
}

function lateness(box: HTMLElement, points: readonly PointAnswer[]): uPlot {
  return new uPlot(optionsOf(box, 'Late', [seriesOf('late', '--late', 'points')]), latenessData(points), box)
}

function durations(box: HTMLElement, points: readonly PointAnswer[]): uPlot {
  const series = [seriesOf('took', '--ok', 'points'), seriesOf('interval', '--skipped', 'line')]
  return new uPlot(optionsOf(box, 'Took, against the interval', series), durationData(points), box)
}

function latenessData(points: readonly PointAnswer[]): uPlot.AlignedData {
  return [times(points), points.map(({ latenessMs }) => heightOf(latenessMs))]
}

function durationData(points: readonly PointAnswer[]): uPlot.AlignedData {
  return [
    times(points),
    points.map(({ durationMs }) => heightOf(durationMs)),
    points.map(({ intervalMs }) => heightOf(intervalMs)),
  ]
}

function times(points: readonly PointAnswer[]): number[] {
  return points.map(({ at }) => at / 1_000)
}

function heightOf(ms: number | null): number | null {
  return ms === null ? null : Math.log10(Math.max(LEAST_MS, ms))
}

function optionsOf(box: HTMLElement, title: string, series: uPlot.Series[]): uPlot.Options {
  const [ink, line] = [colorOf('--soft'), colorOf('--line')]
  const font = '12px system-ui, sans-serif'
  const grid = { stroke: line, width: 1 }
  return {
    title,
    width: widthOf(box),
    height: HEIGHT,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
    cursor: { sync: { key: 'figures' }, drag: { x: true, y: false }, points: { size: 9 } },
    scales: { y: { range: marked } },
    axes: [
      { stroke: ink, font, grid, ticks: grid, space: 74, values: timesOf },
      { stroke: ink, font, grid, ticks: grid, size: 66, splits: marksIn, values: (_, splits) => splits.map(lengthOf) },
    ],
    series: [
      { value: (_, at) => (at === null ? '–' : `${new Date(at * 1_000).toISOString().slice(0, 19)}Z`) },
      ...series,
    ],
  }
}

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000]

/** Lengths that people count in; lines of the charts are at these. */
const MARKS = [
  ...[1, 10, 100, SECOND, 10 * SECOND, MINUTE, 10 * MINUTE],
  ...[HOUR, 6 * HOUR, DAY, 7 * DAY, 30 * DAY, 365 * DAY, 4_000 * DAY],
].map(Math.log10)

/** From a mark to a mark: at least two apart, so that equal figures do not fill the height. */
function marked(_: uPlot, least: number | null, most: number | null): [number, number] {
  const from = MARKS.findLastIndex((mark) => mark <= (least ?? 0))
  const to = MARKS.findIndex((mark) => mark >= (most ?? 0))
  const at = (index: number) => MARKS[Math.min(index, MARKS.length - 1)] ?? 0
  return [at(Math.max(0, from)), at(Math.max(to, from + 2))]
}

function marksIn(...[, , from, to]: [uPlot, number, number, number]): number[] {
  return MARKS.filter((mark) => mark >= from && mark <= to)
}

/** `14:30`, and the day below it where that is another; days alone where lines are days apart. */
function timesOf(...[, splits, , , stepSeconds]: [uPlot, number[], number, number, number]): string[] {
  let day = ''
  return splits.map((seconds) => {
    const [date = '', time = ''] = new Date(seconds * 1_000).toISOString().slice(0, 19).split('T')
    if (stepSeconds >= DAY / SECOND) return date.slice(5)
    const isSame = date === day
    day = date
    const clock = stepSeconds < MINUTE / SECOND ? time : time.slice(0, 5)
    return isSame ? clock : `${clock}\n${date.slice(5)}`
  })
}

function seriesOf(label: string, color: string, look: 'points' | 'line'): uPlot.Series {
  const stroke = colorOf(color)
  return {
    ...{ label, stroke, width: look === 'line' ? 1.5 : 1 },
    ...(look === 'line' ? { dash: [5, 4] } : {}),
    points: look === 'line' ? { show: false } : { show: true, size: 6, fill: stroke },
    value: (_, height) => lengthOf(height),
  }
}

function lengthOf(height: number | null): string {
  return height === null ? '–' : lengthText(Math.round(10 ** height))
}

function openOnPress(chart: uPlot, points: () => readonly PointAnswer[]): void {
  chart.over.addEventListener('click', () => {
    const slot = points()[chart.cursor.idx ?? -1]?.slot
    // A stretch that was drawn to zoom in is no press on a point.
    if (slot !== undefined && chart.select.width === 0) location.hash = href('runs', slot)
  })
}

function widthOf(box: HTMLElement): number {
  return Math.max(240, box.clientWidth)
}

function colorOf(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim()
}
