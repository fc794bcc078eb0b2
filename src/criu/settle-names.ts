import { randomBytes } from 'node:crypto'
import type { Tools } from '../linux/tools.ts'
import { BackendError } from '../model/errors.ts'
import type { DumpImages } from './images/dump-images.ts'
import {
  isUsable,
  type Place,
  type RemappedName,
  remappedNames,
  renameFiles,
  safeName,
  sharedDirectories,
} from './images/remapped-names.ts'
import { terminated } from './nameless-files.ts'

const places: Readonly<Record<string, Place>> = {
  f: 'free',
  t: 'taken',
  g: 'gone',
  l: 'through-link',
}

/**
 * CRIU gives each open file that has lost its name a new one, in the same place. Something else may be
 * there now. If the place is not safe to use, the file gets another name, at the top of its mount. `pid`
 * is the frozen environment's agent.
 */
export async function settleNames(
  tools: Tools,
  images: DumpImages,
  pid: number,
): Promise<DumpImages> {
  const names = remappedNames(images)
  if (names.length === 0) return images
  const found = await placesOf(tools, names, pid)
  const shared = sharedDirectories(names)
  const unsafe = names.filter(
    (name, index) => shared.has(name) || !isUsable(name, found[index] ?? 'through-link'),
  )
  const renamed = new Map(unsafe.map((name) => [name.id, safeName(name, unguessable())]))
  return images.with({ 'files.img': renameFiles(images.files, renamed) })
}

/** What exists at each of the names, in their order. */
async function placesOf(
  tools: Tools,
  names: readonly RemappedName[],
  pid: number,
): Promise<Place[]> {
  const input = terminated(names.map(({ name }) => name))
  const said = await tools.runCell('looking up deleted files', ['names', String(pid)], { input })
  return [...said].map((letter) => {
    const place = places[letter]
    if (place) return place
    throw new BackendError(`looking up deleted files failed: unknown answer ${letter}`, {
      remedy: 'run `make -C native`: the program `cell` is from another version',
    })
  })
}

/** A name that nothing inside can have taken. */
function unguessable(): string {
  return `.deleted-${randomBytes(12).toString('hex')}`
}
