import { decodeImage, encodeImage } from './image-file.ts'
import {
  bytesField,
  decodeMessage,
  encodeMessage,
  type Message,
  numberOf,
  numbersOf,
  varintField,
} from './message.ts'

/** Field numbers of CRIU's FileEntry and InetSkEntry that matter here. */
const INET_SOCKET = 4
const socket = {
  family: 3,
  protocol: 5,
  state: 6,
  srcPort: 7,
  dstPort: 8,
  srcAddr: 11,
  dstAddr: 12,
}

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
    const message = decodeMessage(entry)
    const inner = message.find(({ number }) => number === INET_SOCKET)?.value
    if (!Buffer.isBuffer(inner)) return entry
    const inet = decodeMessage(inner)
    if (!isOutside(inet)) return entry
    closed += 1
    return encodeMessage(replaced(message, inet))
  })
  return closed === 0 ? null : encodeImage({ ...image, entries })
}

function isOutside(inet: Message): boolean {
  const state = numberOf(inet, socket.state)
  const isConnection =
    numberOf(inet, socket.protocol) === TCP && state !== STATE_CLOSED && state !== STATE_LISTENING
  return isConnection && !isLoopback(inet)
}

/** Addresses are words in network order as the host reads them: the first octet is the low byte. */
function isLoopback(inet: Message): boolean {
  const words = numbersOf(inet, socket.dstAddr)
  if (numberOf(inet, socket.family) === AF_INET) return ((words[0] ?? 0) & 0xff) === 127
  const [a, b, c = 0, d = 0] = words
  const isMapped = a === 0 && b === 0 && c >>> 0 === 0xffff_0000
  return isMapped ? (d & 0xff) === 127 : a === 0 && b === 0 && c === 0 && d >>> 0 === 0x0100_0000
}

function replaced(message: Message, inet: Message): Message {
  const numbers = new Map([
    [socket.state, BigInt(STATE_CLOSED)],
    [socket.srcPort, 0n],
    [socket.dstPort, 0n],
  ])
  const closed = inet.map((field) => {
    const number = numbers.get(field.number)
    if (number !== undefined) return varintField(field.number, number)
    if (field.number !== socket.srcAddr && field.number !== socket.dstAddr) return field
    return typeof field.value === 'bigint'
      ? varintField(field.number, 0n)
      : bytesField(field.number, Buffer.alloc(numbersOf([field], field.number).length))
  })
  return message.map((field) =>
    field.number === INET_SOCKET ? bytesField(INET_SOCKET, encodeMessage(closed)) : field,
  )
}
