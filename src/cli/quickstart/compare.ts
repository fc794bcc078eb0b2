import type { Environment, Snapshot } from '../../index.ts'
import { renderChanges } from '../render/changes.ts'
import type { Narrator } from './narrator.ts'
import { directory } from './workload.ts'

/** Shows what a branch changed. */
export async function compare(
  ready: Snapshot,
  branch: Environment,
  narrator: Narrator,
): Promise<void> {
  await narrator.chapter('Compare', 'Only the layers in which they differ are read.')
  await narrator.step(
    `forkpoint diff ${ready.name} ${branch.name} ${directory}`,
    () => ready.diff(branch, { paths: [directory] }),
    ({ changes }) => renderChanges(changes, narrator.style),
  )
}
