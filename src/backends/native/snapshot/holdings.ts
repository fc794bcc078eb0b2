import { statSync } from 'node:fs'
import { join } from 'node:path'
import { currentHome } from '../../../criu/memory/generation.ts'
import { isOwnPages, listFiles } from '../../../criu/memory/pages-files.ts'
import { parentFiles } from '../../../criu/tracking/parents.ts'
import type { SnapshotId } from '../../../model/ids.ts'
import type { HeldPages, SnapshotHoldings } from '../../facets.ts'
import type { Places } from '../places.ts'

export async function holdingsOf(places: Places, snapshot: SnapshotId): Promise<SnapshotHoldings> {
  const dir = await currentHome(places.snapshot(snapshot))
  const images = heldImages(['images', 'copies'].map((name) => join(dir, name)))
  const isOurs = ({ own, holders }: HeldPages) => own && holders === 1
  const mapped = listFiles(join(dir, 'pages')).map(({ name, bytes, links }) => ({
    name,
    bytes,
    holders: links,
    own: isOwnPages(name, snapshot),
  }))
  return {
    imagesBytes: images.filter(isOurs).reduce((sum, { bytes }) => sum + bytes, 0),
    pages: [...mapped, ...images.filter((image) => !isOurs(image))],
  }
}

/**
 * Images in these directories, each file once. Most images for copies are links to the original ones, and
 * other snapshots may have links to images with pages, because they inherit from them.
 */
function heldImages(directories: readonly string[]): HeldPages[] {
  const paths = directories.flatMap((directory) => [
    ...listFiles(directory).map(({ name }) => ({ path: join(directory, name), own: true })),
    ...parentFiles(directory).map((name) => ({ path: join(directory, name), own: false })),
  ])
  const found = new Map<number, { bytes: number; links: number; here: number; own: boolean }>()
  for (const { path, own } of paths) {
    const { ino, blocks, nlink } = statSync(path)
    const known = found.get(ino) ?? { bytes: blocks * 512, links: nlink, here: 0, own: false }
    found.set(ino, { ...known, here: known.here + 1, own: known.own || own })
  }
  return [...found].map(([ino, { bytes, links, here, own }]) => ({
    name: `image ${ino}`,
    bytes,
    holders: links - here + 1,
    own,
  }))
}

/** Bytes of its processes that the snapshot itself wrote. */
export function ownBytes({ imagesBytes, pages }: SnapshotHoldings): number {
  const own = pages.filter((file) => file.own)
  return own.reduce((sum, { bytes }) => sum + bytes, imagesBytes)
}
