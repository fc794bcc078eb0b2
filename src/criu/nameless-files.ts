import type { Tools } from '../linux/tools.ts'
import { type DumpImages, openImages } from './images/dump-images.ts'
import { type LinkRemap, linkRemapsOf } from './images/link-remaps.ts'

/**
 * CRIU gives nameless files a name for the dump, and removes it again at the end if the processes keep
 * running. But the images need these names, so we make them again, to be sealed with the other files.
 * `pid` is the frozen environment's agent. The images must be on disk, for `unlinkNamelessFiles`.
 */
export async function linkNamelessFiles(
  tools: Tools,
  images: DumpImages,
  pid: number,
): Promise<void> {
  const remaps = linkRemapsOf(images)
  if (remaps.length === 0) return
  const input = terminated(remaps.flatMap(({ holder, name }) => [holder, name]))
  await tools.runCell('naming files that are open without a name', ['relink', String(pid)], {
    input,
  })
}

/** Removes these names from an environment that continues after all. */
export async function unlinkNamelessFiles(
  tools: Tools,
  images: string,
  pid: number,
): Promise<void> {
  const remaps = linkedIn(images)
  if (remaps.length === 0) return
  const input = terminated(remaps.map(({ name }) => name))
  await tools.runCell('removing the names of open files', ['unlink', String(pid)], { input })
}

function linkedIn(images: string): LinkRemap[] {
  try {
    return linkRemapsOf(openImages(images))
  } catch {
    // Nothing is lost: names are only made once the images are complete, and these are not.
    return []
  }
}

/** Names with one character per byte, as `cell` reads them. */
export function terminated(names: readonly string[]): Buffer {
  return Buffer.from(names.map((name) => `${name}\0`).join(''), 'latin1')
}
