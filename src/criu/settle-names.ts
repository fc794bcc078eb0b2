import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readdir, readFile } from '../linux/quick-fs.ts'
import { runCell } from '../linux/run-cell.ts'
import { BackendError } from '../model/errors.ts'
import {
  isUsable,
  type Place,
  type RemappedName,
  remappedNames,
  renameFiles,
  safeName,
  sharedDirectories,
} from './images/remapped-names.ts'
import { terminated } from './link-remaps.ts'
import { replaceImage } from './memory/rewrite-images.ts'

const places: Readonly<Record<string, Place>> = {
  ...{ f: 'free', t: 'taken', g: 'gone', l: 'through-link' },
}

/**
 * CRIU makes a name for each open file that has lost its own, where it last had one. By now something
 * else may be there: where it is not safe to use, the file gets another name, at the top of its mount.
 * `pid` is the frozen environment's agent.
 */
export async function settleNames(images: string, pid: number): Promise<void> {
  const all = await readdir(images)
  if (!all.includes('remap-fpath.img')) return
  const load = (name: string) => readFileSync(join(images, name))
  const files = await readFile(join(images, 'files.img'))
  const names = remappedNames({
    ...{ files, remaps: load('remap-fpath.img') },
    mountpoints: all.filter((name) => /^mountpoints-\d+\.img$/.test(name)).map(load),
    ghost: (id) => load(`ghost-file-${id.toString(16)}.img`),
  })
  if (names.length === 0) return
  const found = await placesOf(names, pid)
  const shared = sharedDirectories(names)
  const unsafe = names.filter(
    (name, index) => shared.has(name) || !isUsable(name, found[index] ?? 'through-link'),
  )
  if (unsafe.length === 0) return
  const renamed = new Map(unsafe.map((name) => [name.id, safeName(name, unguessable())]))
  await replaceImage(join(images, 'files.img'), renameFiles(files, renamed))
}

/** What is there at each of the names, in their order. */
async function placesOf(names: readonly RemappedName[], pid: number): Promise<Place[]> {
  const input = terminated(names.map(({ name }) => name))
  const said = await runCell('looking up deleted files', ['names', String(pid)], { input })
  return [...said].map((letter) => {
    const place = places[letter]
    if (place) return place
    throw new BackendError(`looking up deleted files failed: ${letter} is no answer`)
  })
}

/** So that nothing inside can have taken it. */
function unguessable(): string {
  return `.deleted-${randomBytes(12).toString('hex')}`
}
