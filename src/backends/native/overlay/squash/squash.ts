import { readdir, statfs } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { removeTree } from '../../../../linux/remove-tree.ts'
import type { SnapshotId } from '../../../../model/ids.ts'
import type { SnapshotRecord } from '../../../../model/snapshot.ts'
import type { SnapshotImage, Squashed } from '../../../backend.ts'
import type { Layer } from '../../cell/cell.ts'
import type { Native } from '../../native.ts'
import { imageOf, type NativeImage, toImageRecord } from '../../snapshot/capture.ts'
import { treeBytes } from '../../stats/stats.ts'
import { nameOf, parseLayerName } from './layer-name.ts'
import { membersSuffix } from './members.ts'
import { draftSuffix, mergeLayers } from './merge-layers.ts'
import { type Merge, planFold, planSquash, substitute } from './plan.ts'

/** Merging in the background takes no more than this part of the space that is left. */
const mostOfFreeSpace = 1 / 4

/** More layers than this and a process does not end before they are merged. The kernel takes 500. */
const tooManyLayers = 100

/** Whether the layers of a snapshot should become fewer. */
export function squashDue({ image }: Pick<SnapshotRecord, 'image'>): 'no' | 'due' | 'overdue' {
  const { layers, pinned } = image as unknown as NativeImage
  if (pinned || planSquash(layers).length === 0) return 'no'
  return layers.length > tooManyLayers ? 'overdue' : 'due'
}

/** Makes what is due and fits on the disk. */
export async function squash(
  { places }: Native,
  snapshot: SnapshotRecord,
  signal: AbortSignal,
): Promise<Squashed> {
  const made: Merge[] = []
  for (const merge of planSquash(imageOf(snapshot).layers)) {
    signal.throwIfAborted()
    if (!(await fits(places.data, merge.members))) break
    await mergeLayers(merge, signal)
    made.push(merge)
  }
  return await squashedBy(made)
}

/** Makes one layer of all that this snapshot and those it came from sealed. */
export async function fold(snapshot: SnapshotRecord): Promise<Squashed> {
  const { layers, pinned } = imageOf(snapshot)
  const merges = pinned ? [] : planFold(layers)
  for (const merge of merges) await mergeLayers(merge, undefined)
  return await squashedBy(merges)
}

async function squashedBy(merges: readonly Merge[]): Promise<Squashed> {
  const made = merges.flatMap(({ layer }) => {
    const owner = nameOf(layer)?.owner
    return owner === undefined ? [] : [{ owner, path: layer.path }]
  })
  return {
    made: await Promise.all(
      made.map(async ({ owner, path }) => ({
        ...{ owner, name: basename(path) },
        bytes: await treeBytes(path),
      })),
    ),
    rewrite: (image) => rewritten(image, merges),
  }
}

function rewritten(record: SnapshotImage, merges: readonly Merge[]): SnapshotImage | null {
  const image = record as unknown as NativeImage
  const layers = image.pinned ? image.layers : substitute(image.layers, merges)
  return layers === image.layers ? null : toImageRecord({ ...image, layers })
}

async function fits(dir: string, members: readonly Layer[]): Promise<boolean> {
  const { bavail, bsize } = await statfs(dir)
  const sizes = await Promise.all(members.map(({ path }) => treeBytes(path)))
  return sizes.reduce((sum, size) => sum + size, 0) < bavail * bsize * mostOfFreeSpace
}

/** The layers of snapshots that an image or an instance is made of, by name. */
export function layersOf(record: SnapshotImage): string[] {
  const { layers = [] } = record as unknown as Partial<NativeImage>
  return layers.filter((layer) => nameOf(layer) !== null).map(({ path }) => basename(path))
}

/** Removes the merged layers of a snapshot that goes. */
export async function discardSquashed({ places }: Native, snapshot: SnapshotId): Promise<void> {
  for (const name of await readdir(places.layers).catch(() => [])) {
    if (name.startsWith(`${snapshot}.`)) await removeTree(join(places.layers, name))
  }
}

/** Removes what a killed merge left: drafts, and layers that no record knows. */
export async function discardUnrecorded(
  { places }: Native,
  recorded: ReadonlySet<string>,
): Promise<void> {
  for (const name of await readdir(places.layers).catch(() => [])) {
    const plain = name.endsWith(membersSuffix) ? name.slice(0, -membersSuffix.length) : name
    const layer = name.endsWith(draftSuffix) ? name.slice(0, -draftSuffix.length) : plain
    const isSquashed = layer.includes('.') && parseLayerName(layer) !== null
    if (isSquashed && !recorded.has(plain)) await removeTree(join(places.layers, name))
  }
}
