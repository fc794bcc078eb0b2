import { fileEntry, inetSkEntry } from './format/criu-messages.ts'
import { type ImageFile, mapEntries } from './format/image-file.ts'
import { change, type Message, read } from './format/schema.ts'

type InetSocket = Message<typeof inetSkEntry>

const TCP = 6
const STATE_CLOSED = 7
const STATE_LISTENING = 10
const AF_INET = 2

/**
 * files.img with every TCP connection to the outside closed: a copy has another address, and the peer is
 * still talking to the original. Loopback connections stay.
 */
export function closeOutsideConnections(files: ImageFile): ImageFile {
  return mapEntries(files, (entry) => {
    const { isk } = read(fileEntry, entry)
    const socket = isk && read(inetSkEntry, isk)
    if (!socket || !isOutside(socket)) return entry
    return change(fileEntry, entry, { isk: change(inetSkEntry, isk, closedFrom(socket)) })
  })
}

function isOutside(socket: InetSocket): boolean {
  const { proto, state } = socket
  const isConnection = proto === TCP && state !== STATE_CLOSED && state !== STATE_LISTENING
  return isConnection && !isLoopback(socket)
}

/** Addresses are words in network order, read in host order: the first octet is the low byte. */
function isLoopback({ family, dstAddr }: InetSocket): boolean {
  const [a = 0, b, c = 0, d = 0] = dstAddr
  if (family === AF_INET) return (a & 0xff) === 127
  const isMapped = a === 0 && b === 0 && c >>> 0 === 0xffff_0000
  return isMapped ? (d & 0xff) === 127 : a === 0 && b === 0 && c === 0 && d >>> 0 === 0x0100_0000
}

function closedFrom({ srcAddr, dstAddr }: InetSocket): Partial<InetSocket> {
  return {
    state: STATE_CLOSED,
    srcPort: 0,
    dstPort: 0,
    srcAddr: srcAddr.map(() => 0),
    dstAddr: dstAddr.map(() => 0),
  }
}
