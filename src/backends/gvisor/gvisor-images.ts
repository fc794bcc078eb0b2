import { mkdir } from 'node:fs/promises'
import type { ImageStore } from '../../images/image-store.ts'
import type { Gvisor } from './gvisor.ts'
import { layersIn } from './instance.ts'

/** Images are in this backend's own directory of the home. */
export function imageStore({ exclusively, places, imageTool, tools, log }: Gvisor): ImageStore {
  return {
    exclusively,
    places,
    settings: { images: { tool: imageTool } },
    tools,
    log,
    open: async (make) => {
      await mkdir(places.images, { recursive: true, mode: 0o700 })
      await make()
    },
    reopen: async () => {},
    explained: (work) => work(),
    layersIn,
  }
}
