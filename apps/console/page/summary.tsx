import type { SummaryAnswer } from '../src/answers.ts'
import { href, jobHref } from './route.ts'
import { countText, lengthText, numberText } from './text.ts'

/** The answer first: each of the four leads to where it is mended. */
export function Summary({ summary, now }: { summary: SummaryAnswer; now: number }) {
  const { overdue, running, deadLetters, oldestDeadAt, replicas, workers, releases, skewMs } = summary
  const [worst] = overdue
  const jobs = new Set(overdue.map(({ job }) => job)).size
  return (
    <div class="answer">
      <a class={worst === undefined ? '' : 'bad'} href={worst === undefined ? href('runs') : jobHref(worst.job)}>
        <strong>{jobs === 0 ? 'Nothing overdue' : `${numberText(jobs)} overdue`}</strong>
        <span>
          {worst === undefined
            ? 'every slot started and ended in time'
            : `${worst.job}, ${lengthText(worst.sinceMs)}: ${worst.reason}`}
        </span>
      </a>
      <a href={running[0] === undefined ? href('runs') : href('runs', undefined, { state: 'running' })}>
        <strong>{numberText(running.length)} running</strong>
        <span>
          {running.length === 0
            ? 'no run is under way'
            : running
                .slice(0, 3)
                .map(({ job, entities }) => `${job} ${shareText(entities)}`)
                .join(', ')}
        </span>
      </a>
      <a class={deadLetters === 0 ? '' : 'warn'} href={href('dead')}>
        <strong>{countText(deadLetters, 'dead letter')}</strong>
        <span>{oldestDeadAt === null ? 'nothing waits for you' : `oldest ${lengthText(now - oldestDeadAt)}`}</span>
      </a>
      <a class={replicas === 0 || workers === 0 ? 'bad' : ''} href={href('replicas')}>
        <strong>
          {countText(replicas, 'replica')} · {countText(workers, 'worker')}
        </strong>
        <span>
          {releases.length === 0
            ? 'nobody lives'
            : `release ${releases.slice(0, 3).join(', ')}, skew ${lengthText(skewMs)}`}
        </span>
      </a>
    </div>
  )
}

function shareText({ planned, done, dead, abandoned, skipped }: SummaryAnswer['running'][number]['entities']): string {
  return planned === 0 ? '' : `${Math.floor((100 * (done + dead + abandoned + skipped)) / planned)} %`
}
