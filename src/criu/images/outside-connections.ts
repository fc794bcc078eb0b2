import { fileEntry, inetSkEntry } from './criu-messages.ts'
import { decodeImage, encodeImage } from './image-file.ts'
import { change, type Message, read } from './schema.ts'

type InetSocket = Message<typeof inetSkEntry>

const TCP = 6
const STATE_CLOSED = 7
const STATE_LISTENING = 10
const AF_INET = 2

/**
 * Files of a dump with every TCP connection to outside closed: a copy has another address, and the
 * peer is still talking to the original. Connections over loopback stay; null if there is no other.
 */
export function closeOutsideConnections(files: Buffer): Buffer | null {
  const image = decodeImage(files)
  let closed = 0
  const entries = image.entries.map((entry) => {
    const { isk } = read(fileEntry, entry)
    const socket = isk && read(inetSkEntry, isk)
    if (!socket || !isOutside(socket)) return entry
    closed += 1
    return change(fileEntry, entry, { isk: change(inetSkEntry, isk, closedFrom(socket)) })
  })
  return closed === 0 ? null : encodeImage({ ...image, entries })
}

function isOutside(socket: InetSocket): boolean {
  const { proto, state } = socket
  const isConnection = proto === TCP && state !== STATE_CLOSED && state !== STATE_LISTENING
  return isConnection && !isLoopback(socket)
}

/** Addresses are words in network order as the host reads them: the first octet is the low byte. */
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
