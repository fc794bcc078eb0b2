import { statfs } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { namesIn } from '../../../../linux/files/names-in.ts'
import { removeTree } from '../../../../linux/files/remove-tree.ts'
import { treeBytes } from '../../../../linux/files/tree-bytes.ts'
import type { Tools } from '../../../../linux/tools.ts'
import type { SnapshotId } from '../../../../model/ids.ts'
import type { SnapshotRecord } from '../../../../model/snapshot.ts'
import type { SnapshotImage } from '../../../backend.ts'
import type { Squashed } from '../../../facets.ts'
import type { Layer } from '../../cell/cell.ts'
import { imageOf, layersIn, parseImage, toImageRecord } from '../../image.ts'
import type { Native } from '../../native.ts'
import { nameOf, parseLayerName } from './layer-name.ts'
import { draftSuffix, makeSquashed } from './make-squashed.ts'
import { membersSuffix } from './members.ts'
import { planSquash, planSquashAll, type Squash, substitute } from './plan.ts'

/** Squashing in the background takes at most this part of the free space. */
const maxPartOfFreeSpace = 1 / 4

/** With more layers, a process squashes them before it ends. The kernel takes at most 500. */
const tooManyLayers = 100

/** Whether layers of a snapshot should be squashed. */
export function squashDue(snapshot: Pick<SnapshotRecord, 'image'>): 'no' | 'due' | 'overdue' {
  const { layers, pinned } = imageOf(snapshot)
  if (pinned || planSquash(layers).length === 0) return 'no'
  return layers.length > tooManyLayers ? 'overdue' : 'due'
}

/** Squashes what is due and fits on the disk. */
export async function squash(
  { places, tools }: Native,
  snapshot: SnapshotRecord,
  signal: AbortSignal,
): Promise<Squashed> {
  const made: Squash[] = []
  for (const step of planSquash(imageOf(snapshot).layers)) {
    signal.throwIfAborted()
    if (!(await fits(tools, places.data, step.members))) break
    await makeSquashed(tools, step, signal)
    made.push(step)
  }
  return await squashedBy(tools, made)
}

/** Squashes the whole chain of a snapshot into one layer. */
export async function squashAll({ tools }: Native, snapshot: SnapshotRecord): Promise<Squashed> {
  const { layers, pinned } = imageOf(snapshot)
  const squashes = pinned ? [] : planSquashAll(layers)
  for (const step of squashes) await makeSquashed(tools, step, undefined)
  return await squashedBy(tools, squashes)
}

async function squashedBy(tools: Tools, squashes: readonly Squash[]): Promise<Squashed> {
  const made = squashes.flatMap(({ layer }) => {
    const owner = nameOf(layer)?.owner
    return owner === undefined ? [] : [{ owner, path: layer.path }]
  })
  return {
    made: await Promise.all(
      made.map(async ({ owner, path }) => ({
        owner,
        name: basename(path),
        bytes: await treeBytes(tools, path),
      })),
    ),
    rewrite: (image) => rewritten(image, squashes),
  }
}

function rewritten(record: SnapshotImage, squashes: readonly Squash[]): SnapshotImage | null {
  const image = parseImage(record)
  const layers = image.pinned ? image.layers : substitute(image.layers, squashes)
  return layers === image.layers ? null : toImageRecord({ ...image, layers })
}

async function fits(tools: Tools, dir: string, members: readonly Layer[]): Promise<boolean> {
  const { bavail, bsize } = await statfs(dir)
  const sizes = await Promise.all(members.map(({ path }) => treeBytes(tools, path)))
  return sizes.reduce((sum, size) => sum + size, 0) < bavail * bsize * maxPartOfFreeSpace
}

/** Names of the snapshot layers that an image or an instance is made of. */
export function layersOf(record: SnapshotImage): string[] {
  return layersIn(record)
    .filter((layer) => nameOf(layer) !== null)
    .map(({ path }) => basename(path))
}

/** The snapshots whose layers an image or an instance is made of. */
export function layerOwners(record: SnapshotImage): SnapshotId[] {
  const owners = layersIn(record).flatMap((layer) => nameOf(layer)?.owner ?? [])
  return [...new Set(owners)]
}

/** Removes the squashed layers of a snapshot that is being discarded. */
export async function discardSquashed(
  { places, tools }: Native,
  snapshot: SnapshotId,
): Promise<void> {
  for (const name of namesIn(places.layers)) {
    if (name.startsWith(`${snapshot}.`)) await removeTree(tools, join(places.layers, name))
  }
}

/** Removes what a killed squash left: drafts, and layers that no record lists. */
export async function discardUnrecorded(
  { places, tools }: Native,
  recorded: ReadonlySet<string>,
): Promise<void> {
  for (const name of namesIn(places.layers)) {
    const plain = name.endsWith(membersSuffix) ? name.slice(0, -membersSuffix.length) : name
    const layer = name.endsWith(draftSuffix) ? name.slice(0, -draftSuffix.length) : plain
    const isSquashed = layer.includes('.') && parseLayerName(layer) !== null
    if (isSquashed && !recorded.has(plain)) await removeTree(tools, join(places.layers, name))
  }
}
