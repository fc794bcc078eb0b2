import { fhEntry, fileEntry, regFileEntry, unixSkEntry } from './format/criu-messages.ts'
import type { ImageFile } from './format/image-file.ts'
import { read } from './format/schema.ts'
import { placesOf } from './noted/socket-names.ts'
import { watchedHandles } from './watches.ts'

/** What CRIU does with a name. native/cell/criu/names.c looks each name up before CRIU does. */
type Use = 'file' | 'link' | 'socket' | 'deleted-socket'

interface UsedName {
  readonly use: Use
  /** one character per byte */
  readonly path: string
}

const letters: Readonly<Record<Use, string>> = {
  file: 'f',
  link: 'l',
  socket: 's',
  'deleted-socket': 'd',
}

const O_NOFOLLOW = 0o400000
const O_PATH = 0o10000000
const openedItself = O_NOFOLLOW | O_PATH

/** The names in files.img that programs inside chose, as `cell` reads them. */
export function usedNames(files: ImageFile): Buffer {
  const all = files.entries.flatMap((entry) => namesOf(entry))
  const records = new Set(all.map(({ use, path }) => `${letters[use]}${path}\0`))
  return Buffer.from([...records].join(''), 'latin1')
}

function namesOf(entry: Uint8Array): UsedName[] {
  const file = read(fileEntry, entry)
  if (file.reg) return [nameOfFile(file.reg)]
  if (file.usk) return namesOfSocket(file.usk)
  // A link can be watched itself, so CRIU follows none here: see native/preload/mountpoints.c.
  return watchedHandles(file)
    .flatMap((handle) => read(fhEntry, handle).path ?? [])
    .map((path) => ({ use: 'link', path: untilNul(path) }))
}

function nameOfFile(reg: Uint8Array): UsedName {
  const { name, flags } = read(regFileEntry, reg)
  return { use: (flags & openedItself) === openedItself ? 'link' : 'file', path: untilNul(name) }
}

function namesOfSocket(usk: Uint8Array): UsedName[] {
  const { name, nameDir, deleted } = read(unixSkEntry, usk)
  const given = untilNul(name)
  if (given === '') return []
  const { directory, names } = placesOf(untilNul(nameDir ?? ''))
  const path = given.startsWith('/') ? given : `${directory}/${given}`
  const later = names.map((name): UsedName => ({ use: 'socket', path: name }))
  return [{ use: deleted === true ? 'deleted-socket' : 'socket', path }, ...later]
}

/** The kernel ends a name at NUL, and so does `cell`. */
function untilNul(name: string): string {
  return name.split('\0', 1)[0] ?? ''
}
