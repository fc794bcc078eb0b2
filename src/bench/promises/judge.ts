import type { Bound, PromiseResult } from '../results.ts'
import { backendPromises } from './backends.ts'
import { beforeAndAfter } from './before-and-after.ts'
import { branchingPromises } from './branching.ts'
import { pausePromises } from './pauses.ts'
import type { Groups } from './promised.ts'
import { writingPromises } from './writing.ts'

const always = [...branchingPromises, ...writingPromises, ...pausePromises, ...backendPromises]

/** Compares what was promised with what was measured, for the groups that were measured. */
export function judge(groups: Groups): PromiseResult[] {
  const promises = wasCompared(groups) ? [...always, ...beforeAndAfter] : always
  return promises
    .filter(({ group }) => groups[group] !== undefined)
    .map(({ what, unit, promised, measure }) => {
      const measured = measure(groups)
      const met = measured === null ? null : keeps(promised, measured)
      return { what, unit, promised, measured, met }
    })
}

/** Whether another checkout took its turns. */
function wasCompared(groups: Groups): boolean {
  return Object.values(groups).some((series) => series.some(({ by }) => by === 'before'))
}

function keeps(bound: Bound, measured: number): boolean {
  return 'atLeast' in bound ? measured >= bound.atLeast : measured < bound.below
}
