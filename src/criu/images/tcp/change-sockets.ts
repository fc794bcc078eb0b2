import { fileEntry, inetSkEntry } from '../format/criu-messages.ts'
import { type ImageFile, mapEntries } from '../format/image-file.ts'
import { change, type Message, read } from '../format/schema.ts'
import { tcpStates } from './sockets.ts'

type InetSocket = Message<typeof inetSkEntry>

/** files.img with some of its sockets changed; the same if there are none. */
export function changeSockets(
  files: ImageFile,
  ids: ReadonlySet<number>,
  changes: (socket: InetSocket) => Partial<InetSocket>,
): ImageFile {
  if (ids.size === 0) return files
  return mapEntries(files, (entry) => {
    const { id, isk } = read(fileEntry, entry)
    if (!isk || !ids.has(id)) return entry
    const changed = change(inetSkEntry, isk, changes(read(inetSkEntry, isk)))
    return change(fileEntry, entry, { isk: changed })
  })
}

/** A socket that is not connected. */
export function closedFrom(
  { srcAddr, srcPort, dstAddr }: InetSocket,
  how: 'bound' | 'unbound',
): Partial<InetSocket> {
  const isBound = how === 'bound'
  return {
    state: tcpStates.closed,
    srcPort: isBound ? srcPort : 0,
    dstPort: 0,
    srcAddr: isBound ? srcAddr : srcAddr.map(() => 0),
    dstAddr: dstAddr.map(() => 0),
  }
}
