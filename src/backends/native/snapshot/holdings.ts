import { join } from 'node:path'
import { currentHome } from '../../../criu/memory/generation.ts'
import { isOwnPages, listFiles } from '../../../criu/memory/pages-files.ts'
import type { SnapshotId } from '../../../model/ids.ts'
import type { SnapshotHoldings } from '../../backend.ts'
import type { Places } from '../places.ts'

export async function holdingsOf(places: Places, snapshot: SnapshotId): Promise<SnapshotHoldings> {
  const dir = await currentHome(places.snapshot(snapshot))
  const [images = [], copies = [], pages = []] = ['images', 'copies', 'pages'].map((name) =>
    listFiles(join(dir, name)),
  )
  // Most of the images for copies are other names of the first ones.
  const own = [...images, ...copies.filter(({ links }) => links === 1)]
  return {
    imagesBytes: own.reduce((sum, { bytes }) => sum + bytes, 0),
    pages: pages.map(({ name, bytes, links }) => ({
      ...{ name, bytes, holders: links },
      own: isOwnPages(name, snapshot),
    })),
  }
}

/** What a snapshot wrote of its processes. */
export function ownBytes({ imagesBytes, pages }: SnapshotHoldings): number {
  const own = pages.filter((file) => file.own)
  return own.reduce((sum, { bytes }) => sum + bytes, imagesBytes)
}
