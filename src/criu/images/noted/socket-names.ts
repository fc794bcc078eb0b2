import { dirname } from 'node:path'
import { fileEntry, unixSkEntry } from '../format/criu-messages.ts'
import { type ImageFile, mapEntries } from '../format/image-file.ts'
import { change, type Message, read } from '../format/schema.ts'

/** The names of each moved Unix socket by now, as paths from the root, by the socket's inode. */
export type SocketNames = ReadonlyMap<number, readonly string[]>

const STREAM_ESTABLISHED = 1
const SOCK_DGRAM = 2
/** No path that the kernel makes has two slashes in a row. */
const between = '//'

/**
 * Restores sockets under the names that they have by now. native/preload/objects/moved-sockets.c reads
 * them from the directory of a socket, and gives them to it before CRIU would delete its first name.
 */
export function withSocketNames(files: ImageFile, names: SocketNames): ImageFile {
  return mapEntries(files, (entry) => {
    const { usk } = read(fileEntry, entry)
    const socket = usk && read(unixSkEntry, usk)
    const present = socket && names.get(socket.ino)
    if (!socket || present === undefined) return entry
    return change(fileEntry, entry, { usk: change(unixSkEntry, usk, renamed(socket, present)) })
  })
}

function renamed(
  socket: Message<typeof unixSkEntry>,
  present: readonly string[],
): Partial<Message<typeof unixSkEntry>> {
  const [first = '/'] = present
  const directory = dirname(first) === '/' ? '/.' : dirname(first)
  // One end of a connection only has the name of the socket that accepted it.
  const isEnd = socket.type !== SOCK_DGRAM && socket.state === STREAM_ESTABLISHED
  if (isEnd) return { nameDir: directory }
  return {
    deleted: true,
    nameDir: [directory, ...present.map((path) => path.slice(1))].join(between),
  }
}

/** Where CRIU binds a socket, and the names that it gets after that. */
export function placesOf(nameDir: string): { directory: string; names: readonly string[] } {
  const [directory = '', ...names] = nameDir.split(between)
  return { directory, names: names.map((name) => `/${name}`) }
}
