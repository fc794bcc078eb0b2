import {
  fanotifyFileEntry,
  fanotifyInodeMarkEntry,
  fanotifyMarkEntry,
  fhEntry,
  fileEntry,
  inotifyFileEntry,
  inotifyWdEntry,
  regFileEntry,
  unixSkEntry,
} from './criu-messages.ts'
import { decodeImage } from './image-file.ts'
import { read } from './schema.ts'

/** What CRIU does with a name: see native/cell/names.c, which looks each of them up before it does. */
type Use = 'file' | 'link' | 'socket' | 'deleted-socket'

interface UsedName {
  readonly use: Use
  /** one character a byte */
  readonly path: string
}

const letters: Readonly<Record<Use, string>> = {
  ...{ file: 'f', link: 'l', socket: 's', 'deleted-socket': 'd' },
}

const O_NOFOLLOW = 0o400000
const O_PATH = 0o10000000
const openedItself = O_NOFOLLOW | O_PATH

/** The names in files.img that a sandbox chose, as `cell` takes them. */
export function usedNames(files: Buffer): Buffer {
  const all = decodeImage(files).entries.flatMap((entry) => namesOf(entry))
  const records = new Set(all.map(({ use, path }) => `${letters[use]}${path}\0`))
  return Buffer.from([...records].join(''), 'latin1')
}

function namesOf(entry: Uint8Array): UsedName[] {
  const { reg, usk, ify, ffy } = read(fileEntry, entry)
  if (reg) return [nameOfFile(reg)]
  if (usk) return namesOfSocket(usk)
  if (ify) return pathsOf(read(inotifyFileEntry, ify).wd.map((wd) => read(inotifyWdEntry, wd)))
  return ffy ? pathsOf(markedInodes(ffy)) : []
}

function nameOfFile(reg: Uint8Array): UsedName {
  const { name, flags } = read(regFileEntry, reg)
  return { use: (flags & openedItself) === openedItself ? 'link' : 'file', path: untilNul(name) }
}

function namesOfSocket(usk: Uint8Array): UsedName[] {
  const { name, nameDir, deleted } = read(unixSkEntry, usk)
  const given = untilNul(name)
  if (given === '') return []
  const path = given.startsWith('/') ? given : `${untilNul(nameDir ?? '')}/${given}`
  return [{ use: deleted === true ? 'deleted-socket' : 'socket', path }]
}

function markedInodes(ffy: Uint8Array) {
  return read(fanotifyFileEntry, ffy)
    .mark.flatMap((mark) => read(fanotifyMarkEntry, mark).ie ?? [])
    .map((inode) => read(fanotifyInodeMarkEntry, inode))
}

function pathsOf(watched: readonly { readonly fHandle: Uint8Array }[]): UsedName[] {
  return watched
    .flatMap(({ fHandle }) => read(fhEntry, fHandle).path ?? [])
    .map((path) => ({ use: 'file', path: untilNul(path) }))
}

/** The kernel's names end there, and `cell` takes it for the end of a record. */
function untilNul(name: string): string {
  return name.split('\0', 1)[0] ?? ''
}
