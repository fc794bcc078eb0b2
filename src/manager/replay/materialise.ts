import type { ForkpointHandle } from '../../api/handles/forkpoint.ts'
import type { Snapshot } from '../../api/handles/snapshot.ts'
import { BackendError } from '../../model/errors.ts'
import { label } from '../tree/labels.ts'
import type { VirtualSnapshot } from '../tree/nodes.ts'
import { planOf, type SnapshotTree } from '../tree/tree.ts'
import { replay } from './replay.ts'

/**
 * Makes a physical snapshot of a virtual one: its commands are replayed in a fork of the nearest physical
 * snapshot, which nobody else uses. So a replay that fails has changed nothing.
 */
export async function materialise(
  fp: ForkpointHandle,
  tree: SnapshotTree,
  node: VirtualSnapshot,
  session: string,
): Promise<Snapshot> {
  const known = tree.replays.get(node.id)
  if (known !== undefined) return await fp.snapshot(known)
  const { from, commands } = planOf(tree, node)
  const base = await fp.snapshot(from)
  const labels = { [label.session]: session, [label.replaying]: node.id }
  const [scratch] = await base.fork(1, { labels })
  if (scratch === undefined) {
    throw new BackendError(`forking snapshot ${from} reported nothing`, {
      remedy: 'run `forkpoint doctor`',
    })
  }
  try {
    await replay(scratch, commands, node.id)
    return await scratch.snapshot({
      labels: { [label.session]: session, [label.replayOf]: node.id },
    })
  } finally {
    // Its last snapshot is not proven yet, and nothing in it is needed any more.
    await scratch.remove({ force: true })
  }
}
