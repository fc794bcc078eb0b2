import { readdir } from '../../../../linux/files/quick-fs.ts'
import type { SnapshotRecord } from '../../../../model/snapshot.ts'
import type { Layer } from '../../cell/cell.ts'
import { imageOf, type NativeImage } from '../../image.ts'
import { nameOf } from './layer-name.ts'

/**
 * An environment is captured over the layers it has mounted. Its head may have been squashed since then,
 * so this lists the same files over the current layers of the head. An empty sealed layer is left out. A
 * pinned image keeps exactly the layers that it was captured over.
 */
export async function overCurrentLayers(
  image: NativeImage,
  mounted: readonly Layer[],
  head: Pick<SnapshotRecord, 'image'> | null,
): Promise<NativeImage> {
  if (image.pinned) return image
  const own = image.layers.slice(0, image.layers.length - mounted.length)
  const filled = await Promise.all(own.map(async ({ path }) => (await readdir(path)).length > 0))
  const layers = own.filter((_, index) => filled[index])
  return { ...image, layers: [...layers, ...currentLayers(mounted, head)] }
}

/** Squashing does not change which snapshot is on top, so the same top means the same files. */
function currentLayers(
  mounted: readonly Layer[],
  head: Pick<SnapshotRecord, 'image'> | null,
): readonly Layer[] {
  const current = head === null ? mounted : imageOf(head).layers
  const top = (layers: readonly Layer[]) =>
    layers[0] && (nameOf(layers[0])?.owner ?? layers[0].path)
  return top(current) === top(mounted) ? current : mounted
}
