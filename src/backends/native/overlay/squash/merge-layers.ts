import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { killPoint } from '../../../../linux/kill-points.ts'
import { nativeProgram } from '../../../../linux/native-program.ts'
import { pathExists } from '../../../../linux/path-exists.ts'
import { removeTree } from '../../../../linux/remove-tree.ts'
import { mustRun } from '../../../../linux/run-tool.ts'
import { writeMembers } from './members.ts'
import type { Merge } from './plan.ts'

/** What a layer is called while it is being made. */
export const draftSuffix = '.new'

/**
 * Makes the layer of a merge, unless it is there: its content follows from its name. It is complete
 * and on the disk before it has that name, because a record may list it right afterwards.
 */
export async function mergeLayers(merge: Merge, signal: AbortSignal | undefined): Promise<void> {
  const { layer, members } = merge
  if (await pathExists(layer.path)) return
  const draft = layer.path + draftSuffix
  await removeTree(draft)
  try {
    const from = members.map(({ ids, path }) => `${ids}:${path}`)
    const args = ['squash', draft, ...from]
    await mustRun('squashing layers', nativeProgram('cell'), args, { signal })
    await writeMembers(merge)
    killPoint('squash:merged')
    await rename(draft, layer.path)
    await flushDirectory(dirname(layer.path))
    killPoint('squash:renamed')
  } catch (error) {
    await removeTree(draft)
    throw error
  }
}

/** A name is on the disk when its directory is. */
async function flushDirectory(path: string): Promise<void> {
  const directory = await open(path)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
