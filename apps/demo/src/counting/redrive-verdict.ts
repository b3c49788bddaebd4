import type { RedrivenReport } from '../long-report.ts'
import type { LongReport } from '../options.ts'
import type { EffectTally } from '../receiver/effect-tally.ts'
import { DECLINED } from '../receiver/fault-plan.ts'
import type { Verdict } from './verdict.ts'

/** One kill is asked for per so many entities, and at most {@link MOST_ASKED} of them. */
const ENTITIES_PER_KILL = 10_000
const MOST_ASKED = 5

export interface RedriveEvidence {
  readonly long: LongReport
  readonly redriven: RedrivenReport
  /** Everything the receiver saw of the run, the redrive included. */
  readonly effects: EffectTally
}

/** Judges a long report further: whether only those died that had to, and whether the redrive made up for them. */
export function judgeRedrive({ summary, faults }: Verdict, { long, redriven, effects }: RedriveEvidence): Verdict {
  const { after } = redriven
  const { planned, done, dead, abandoned } = after?.entities ?? { planned: 0, done: 0, dead: 0, abandoned: 0 }
  const leastKills =
    long.killEveryMs === undefined ? 0 : Math.min(MOST_ASKED, Math.ceil(long.entities / ENTITIES_PER_KILL))
  const found = [
    summary.entities !== long.entities && `${summary.entities} entities planned of ${long.entities}`,
    summary.kills < leastKills && `${summary.kills} kills: the report ended before there were ${leastKills}`,
    summary.deadLetters !== DECLINED &&
      `${summary.deadLetters} dead letters, where ${DECLINED} entities fail on purpose`,
    redriven.entities !== summary.deadLetters &&
      `${redriven.entities} of ${summary.deadLetters} dead letters were redriven`,
    after?.state !== 'succeeded' && `after the redrive the report is ${after?.state ?? 'without a record'}`,
    (done !== planned || dead + abandoned !== 0) &&
      `after the redrive ${planned} entities are planned, ${done} done, ${dead} dead, ${abandoned} abandoned`,
    effects.duplicates > 0 && `${effects.duplicates} effects were accepted twice, the redrive included`,
    effects.entities.size !== done &&
      `after the redrive the ledger has ${done} entities done, the receiver the effects of ${effects.entities.size}`,
  ]
  return {
    summary: {
      ...summary,
      duplicateEffects: effects.duplicates,
      effectRepeats: effects.repeats,
      redriven: { entities: redriven.entities, entitiesDone: done, deadLetters: dead },
    },
    faults: [...faults, ...found.filter((fault) => fault !== false)],
  }
}
