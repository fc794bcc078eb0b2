import * as z from 'zod/mini'
import type { Captured, SnapshotRecord } from '../../model/snapshot.ts'
import type { SnapshotImage } from '../backend.ts'
import type { Layer } from './cell/cell.ts'
import type { Attributes } from './cell/environment-directory.ts'
import { layerSchema, stored } from './stored.ts'

/** A snapshot, as the store keeps it. */
export interface NativeImage {
  readonly kind: 'native'
  readonly captured: readonly Captured[]
  /** topmost first; includes the snapshot's own if it sealed anything */
  readonly layers: readonly Layer[]
  /** `subvolume`: its files are in its own one, over the layers; absent: they are one of the layers */
  readonly files?: 'subvolume'
  /** mode and owner of `/` inside, which no layer can hold */
  readonly root?: Attributes
  /** true if its processes can be restored only over exactly these layers */
  readonly pinned: boolean
}

const imageSchema: z.ZodMiniType<NativeImage> = z.object({
  kind: z.literal('native'),
  captured: z.array(z.enum(['filesystem', 'processes', 'terminal'])),
  layers: z.array(layerSchema),
  files: z.exactOptional(z.literal('subvolume')),
  root: z.exactOptional(z.object({ mode: z.number(), uid: z.number(), gid: z.number() })),
  pinned: z._default(z.boolean(), false),
})

/** What instances and images have in common; a snapshot that is being taken has no layers yet. */
const layeredSchema = z.object({ layers: z._default(z.array(layerSchema), []) })

export function parseImage(image: SnapshotImage): NativeImage {
  return stored('image', imageSchema, image)
}

export function imageOf({ image }: Pick<SnapshotRecord, 'image'>): NativeImage {
  return parseImage(image)
}

export function layersIn(record: SnapshotImage): readonly Layer[] {
  return stored('image', layeredSchema, record).layers
}

/** The image as JSON. */
export function toImageRecord({ layers, root, ...image }: NativeImage): SnapshotImage {
  const record = { ...image, layers: layers.map((layer) => ({ ...layer })) }
  return root === undefined ? record : { ...record, root: { ...root } }
}
