// Names that hostile code would like to have in CRIU's images, instead of the real ones.
import {
  fhEntry,
  fileEntry,
  inotifyFileEntry,
  inotifyWdEntry,
  regFileEntry,
  unixSkEntry,
} from '../../src/criu/images/format/criu-messages.ts'
import { decodeImage, encodeImage } from '../../src/criu/images/format/image-file.ts'
import { change, read, schema } from '../../src/criu/images/format/schema.ts'
import type { Random } from './random.ts'

/** The names of a mount; code inside does not choose what is mounted, or how. */
const namedMount = schema({ root: [6, 'name'], mountpoint: [7, 'name'], source: [8, 'name'] })

/** `targets` are paths of the host, and links inside that lead to them. */
export interface Targets {
  readonly host: readonly string[]
  readonly links: readonly string[]
}

export function hostileName(random: Random, { host, links }: Targets, before: string): string {
  const target = random.pick(host)
  const last = random.pick(['victim', 'other', 'new', '..', '.', '', 'a'.repeat(255), '\xff\xfe'])
  switch (random.int(9)) {
    case 0:
      return `${target}/${last}`
    case 1:
      return `${random.pick(links)}/${last}`
    case 2:
      return `${'/..'.repeat(1 + random.int(40))}${target}/${last}`
    case 3:
      return `/proc/${random.pick(['self', '1', '2', 'thread-self'])}/${random.pick(['root', 'cwd'])}${target}/${last}`
    case 4:
      return `/proc/self/fd/${random.int(1200)}/${random.pick(['', '../../', `..${target}/`])}${last}`
    case 5:
      return `${before.slice(0, random.int(before.length + 1))}/${random.pick(links)}/${last}`
    case 6:
      return '/d'.repeat(random.int(2100))
    case 7:
      return random.bytes(1 + random.int(300)).toString('latin1')
    default:
      return `${random.pick(links)}/../${target}\0/${last}`
  }
}

type Rename = (before: string) => string

/** files.img with some of its names replaced. */
export function renameInFiles(files: Buffer, rename: Rename): Buffer {
  return renamed(files, (entry) => {
    const { reg, usk, ify } = read(fileEntry, entry)
    if (reg) return change(fileEntry, entry, { reg: renamedFile(reg, rename) })
    if (usk) return change(fileEntry, entry, { usk: renamedSocket(usk, rename) })
    return ify ? change(fileEntry, entry, { ify: renamedWatches(ify, rename) }) : entry
  })
}

function renamedFile(reg: Uint8Array, rename: Rename): Uint8Array {
  return change(regFileEntry, reg, { name: rename(read(regFileEntry, reg).name) })
}

function renamedSocket(usk: Uint8Array, rename: Rename): Uint8Array {
  const { name, nameDir } = read(unixSkEntry, usk)
  if (name === '' || name.startsWith('\0')) return usk
  const given = rename(name).slice(0, 107)
  return change(unixSkEntry, usk, {
    name: `${given}\0`,
    nameDir: nameDir === undefined ? undefined : rename(nameDir),
  })
}

function renamedWatches(ify: Uint8Array, rename: Rename): Uint8Array {
  const wd = read(inotifyFileEntry, ify).wd.map((watch) => {
    const { fHandle } = read(inotifyWdEntry, watch)
    const path = rename(read(fhEntry, fHandle).path ?? '')
    return change(inotifyWdEntry, watch, { fHandle: change(fhEntry, fHandle, { path }) })
  })
  return change(inotifyFileEntry, ify, { wd })
}

/** mountpoints-ID.img with some of its names replaced. */
export function renameInMounts(mountpoints: Buffer, rename: Rename): Buffer {
  return renamed(mountpoints, (entry) => {
    const { root, mountpoint, source } = read(namedMount, entry)
    const changes = { root: rename(root), mountpoint: rename(mountpoint), source: rename(source) }
    return change(namedMount, entry, changes)
  })
}

function renamed(image: Buffer, rename: (entry: Uint8Array) => Uint8Array): Buffer {
  const { head, entries } = decodeImage(image)
  return encodeImage({ head, entries: entries.map(rename) })
}
