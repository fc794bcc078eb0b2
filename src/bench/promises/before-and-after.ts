import { type GroupName, samplesOf } from '../results.ts'
import { ratio } from '../statistics.ts'
import { type Promised, session, shell } from './promised.ts'

/** Medians of the same code differ between two turns on a machine whose speed drifts; this leaves room for that. */
const noWorse = 1.1

/** What this engine must show against the one of another checkout that took turns with it. */
export const beforeAndAfter: readonly Promised[] = [
  ...[shell, 'Chromium', session].map((on) => compared('pause', on, 'pause, second snapshot', 0.6)),
  ...[shell, session].flatMap((on) =>
    [
      'restore',
      'fork of 1',
      'fork of 4, per copy',
      'restore from a spare',
      'fork from a spare',
    ].map((what) => compared('operations', on, what, noWorse)),
  ),
]

function compared(group: GroupName, on: string, what: string, below: number): Promised {
  return {
    group,
    what: `${on}, ${what}: after, against before`,
    unit: 'times',
    promised: { below },
    measure: (groups) =>
      ratio(
        samplesOf(groups[group], { by: 'forkpoint', what, on }),
        samplesOf(groups[group], { by: 'before', what, on }),
      ),
  }
}
