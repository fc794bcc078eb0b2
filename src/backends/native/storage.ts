import { dropStale } from '../../criu/memory/generation.ts'
import type { Storage } from '../facets.ts'
import { explained, explainedIfFull } from './host-failures.ts'
import { parseImage } from './image.ts'
import type { Native } from './native.ts'
import { flush } from './overlay/flush.ts'
import {
  discardUnrecorded,
  layerOwners,
  layersOf,
  squash,
  squashAll,
  squashDue,
} from './overlay/squash/squash.ts'
import { holdingsOf } from './snapshot/holdings.ts'
import { ownSnapshotMemory } from './snapshot/own-memory.ts'
import { reclaimMemory } from './snapshot/reclaim-memory.ts'
import { writtenBytes } from './snapshot/written-bytes.ts'

/** Sealed layers, CRIU's images, and pages that snapshots share. */
export function nativeStorage(native: Native): Storage {
  const { places } = native
  return {
    flush: (snapshot) => flush(native, snapshot),
    holdings: ({ id }) => holdingsOf(places, id),
    writtenBytes: (id) => writtenBytes(places.snapshot(id)),
    ownMemory: (snapshot) => explained('compacting', () => ownSnapshotMemory(native, snapshot)),
    dropStaleMemory: (id) => dropStale(native.tools, places.snapshot(id)),
    squashDue,
    sharesBlocks: (image) => parseImage(image).files === 'subvolume',
    squash: (snapshot, signal) => squash(native, snapshot, signal),
    compact: (snapshot) => explainedIfFull(places, 'compacting', () => squashAll(native, snapshot)),
    discardUnrecorded: (recorded) => discardUnrecorded(native, recorded),
    needs: layerOwners,
    reclaim: (snapshots) => reclaimMemory(native, snapshots),
    layersOf,
  }
}
