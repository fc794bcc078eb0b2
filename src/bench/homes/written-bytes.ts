import * as z from 'zod/mini'
import type { Snapshot } from '../../index.ts'

const sized = z.object({
  sizes: z.object({ imagesBytes: z.number(), filesBytes: z.nullable(z.number()) }),
})

/** What a snapshot wrote: memory, state of processes, and files. */
export function writtenBytes(snapshot: Snapshot): number {
  // The handles of older checkouts had the sizes themselves.
  const { sizes } = sized.parse('lastInfo' in snapshot ? snapshot.lastInfo : snapshot)
  return sizes.imagesBytes + (sizes.filesBytes ?? 0)
}
