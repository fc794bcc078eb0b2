import type { ImageStore } from '../../images/image-store.ts'
import { pathExists } from '../../linux/files/path-exists.ts'
import { explainedIfFull } from './host-failures.ts'
import { layersIn } from './image.ts'
import { ensureVolumes } from './machine.ts'
import type { Native } from './native.ts'
import { openDataVolume } from './overlay/volumes/data-volume.ts'

/** Images are on the data volume, beside the layers of snapshots. */
export function imageStore(native: Native): ImageStore {
  const { exclusively, places, settings, tools, log } = native
  return {
    exclusively,
    places,
    settings,
    tools,
    log,
    open: (make) =>
      exclusively('volume', 'opening the volume', async () => {
        await openDataVolume(tools, places, settings.volume)
        await make()
      }),
    // After a reboot, nothing may have opened the volume yet.
    reopen: async () => {
      if (await pathExists(places.volume)) await ensureVolumes(native)
    },
    explained: (work) => explainedIfFull(places, 'getting an image', work),
    layersIn: (record) => layersIn(record).map(({ path }) => path),
  }
}
