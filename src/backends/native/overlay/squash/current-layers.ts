import { readdir } from '../../../../linux/quick-fs.ts'
import type { SnapshotRecord } from '../../../../model/snapshot.ts'
import type { Layer } from '../../cell/cell.ts'
import { imageOf, type NativeImage } from '../../snapshot/capture.ts'
import { nameOf } from './layer-name.ts'

/**
 * What was captured over the layers that an environment has mounted, listed over those that its head
 * has by now: the same files in fewer layers. A layer into which nothing was sealed is left out. What
 * is pinned stays over the very layers that it was captured over.
 */
export async function overCurrentLayers(
  image: NativeImage,
  mounted: readonly Layer[],
  head: SnapshotRecord | null,
): Promise<NativeImage> {
  if (image.pinned) return image
  const own = image.layers.slice(0, image.layers.length - mounted.length)
  const filled = await Promise.all(own.map(async ({ path }) => (await readdir(path)).length > 0))
  const layers = own.filter((_, index) => filled[index])
  return { ...image, layers: [...layers, ...currentLayers(mounted, head)] }
}

/** An environment came from its head; merging layers does not change which snapshot is on top. */
function currentLayers(mounted: readonly Layer[], head: SnapshotRecord | null): readonly Layer[] {
  const current = head === null ? mounted : imageOf(head).layers
  const top = (layers: readonly Layer[]) =>
    layers[0] && (nameOf(layers[0])?.owner ?? layers[0].path)
  return top(current) === top(mounted) ? current : mounted
}
