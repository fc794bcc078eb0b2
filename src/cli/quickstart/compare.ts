import type { Environment, Snapshot } from '../../index.ts'
import { renderChanges } from '../render/changes.ts'
import type { Narrator } from './narrator.ts'
import { directory } from './workload.ts'

/** What a branch did to the files. */
export async function compare(
  ready: Snapshot,
  branch: Environment,
  narrator: Narrator,
): Promise<void> {
  await narrator.chapter(
    'Compare',
    'Read off the layers; what both have in common is not looked at.',
  )
  await narrator.step(
    `forkpoint diff ${ready.name} ${branch.name} ${directory}`,
    () => ready.diff(branch, { paths: [directory] }),
    ({ changes }) => renderChanges(changes, narrator.style),
  )
}
