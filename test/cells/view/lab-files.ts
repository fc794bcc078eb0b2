import type { BackendFiles } from '../../../src/backends/backend.ts'
import type { Native } from '../../../src/backends/native/native.ts'
import { viewFiles } from '../../../src/backends/native/overlay/view/view-files.ts'
import { placesOf } from '../../../src/backends/native/places.ts'
import { ids, type OverlayLab } from './overlay-lab.ts'

/** The native backend's reading of files, without the rest of it. */
export function labFiles(lab: OverlayLab): BackendFiles {
  const parts: Pick<Native, 'places'> & { settings: { ids: typeof ids } } = {
    places: placesOf(lab.dir),
    settings: { ids },
  }
  return viewFiles(parts as Native)
}
