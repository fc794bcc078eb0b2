import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pathExists } from '../../../../linux/files/path-exists.ts'
import { removeTree } from '../../../../linux/files/remove-tree.ts'
import { killPoint } from '../../../../linux/kill-points.ts'
import type { Tools } from '../../../../linux/tools.ts'
import { writeMembers } from './members.ts'
import type { Squash } from './plan.ts'

/** Ends the name of a layer while it is being made. */
export const draftSuffix = '.new'

/**
 * Makes a squashed layer, unless it exists: its name determines its content. It is complete and on disk
 * before it gets that name, because a record may list it immediately afterwards.
 */
export async function makeSquashed(
  tools: Tools,
  squash: Squash,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { layer, members } = squash
  if (await pathExists(layer.path)) return
  const draft = layer.path + draftSuffix
  await removeTree(tools, draft)
  try {
    const from = members.map(({ ids, path }) => `${ids}:${path}`)
    const args = ['squash', draft, ...from]
    await tools.runCell('squashing layers', args, { signal })
    await writeMembers(squash)
    killPoint('squash:drafted')
    await rename(draft, layer.path)
    await flushDirectory(dirname(layer.path))
    killPoint('squash:renamed')
  } catch (error) {
    await removeTree(tools, draft)
    throw error
  }
}

/** A name is on disk once its directory is. */
async function flushDirectory(path: string): Promise<void> {
  const directory = await open(path)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
