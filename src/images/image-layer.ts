import * as z from 'zod/mini'

/** A directory of files, as OverlayFS stacks them. */
export interface ImageLayer {
  readonly path: string
  /** files have the ids that the image says */
  readonly ids: 'host'
}

export const layerSchema: z.ZodMiniType<ImageLayer> = z.object({
  path: z.string(),
  ids: z.literal('host'),
})
