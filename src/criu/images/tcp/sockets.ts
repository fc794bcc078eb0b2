import { fileEntry, inetSkEntry } from '../format/criu-messages.ts'
import type { ImageFile } from '../format/image-file.ts'
import { type Message, read } from '../format/schema.ts'

type InetSocket = Message<typeof inetSkEntry>

/** The kernel's numbers for the states of a TCP socket. */
export const tcpStates = {
  established: 1,
  connecting: 2,
  finWait1: 4,
  finWait2: 5,
  closed: 7,
  closeWait: 8,
  lastAck: 9,
  listening: 10,
  closing: 11,
} as const

const TCP = 6
const AF_INET = 2

/** A TCP socket of files.img that is neither new nor closed. */
export interface TcpSocket {
  /** in files.img */
  readonly id: number
  /** names the image of its stream */
  readonly inode: number
  readonly family: 4 | 6
  readonly state: number
  readonly from: Endpoint
  /** of a listening socket: nothing */
  readonly to: Endpoint
}

export interface Endpoint {
  /** one that is mapped to IPv6 is an IPv4 address here */
  readonly address: string
  readonly port: number
}

export function tcpSockets(files: ImageFile): TcpSocket[] {
  return files.entries.flatMap((entry) => {
    const { id, isk } = read(fileEntry, entry)
    const socket = isk && read(inetSkEntry, isk)
    if (!socket || socket.proto !== TCP || socket.state === tcpStates.closed) return []
    const { ino: inode, state, srcAddr, srcPort, dstAddr, dstPort } = socket
    const family = socket.family === AF_INET ? 4 : 6
    const from = { address: addressOf(socket, srcAddr), port: srcPort }
    return {
      id,
      inode,
      family,
      state,
      from,
      to: { address: addressOf(socket, dstAddr), port: dstPort },
    }
  })
}

export function isConnection({ state }: TcpSocket): boolean {
  return state !== tcpStates.listening
}

/** Both ends are in the same network: the address is of loopback, or its own. */
export function isInside({ from, to }: TcpSocket): boolean {
  return isLoopback(to.address) || from.address === to.address
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '0:0:0:0:0:0:0:1'
}

export function inWords({ address, port }: Endpoint): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}

/** Addresses are words in network order, read in host order: the first octet is the low byte. */
function addressOf({ family }: InetSocket, words: readonly number[]): string {
  const [a = 0, b = 0, c = 0] = words
  const isMapped = family !== AF_INET && a === 0 && b === 0 && c >>> 0 === 0xffff_0000
  const used = family === AF_INET ? words.slice(0, 1) : isMapped ? words.slice(3) : words
  const octets = used.flatMap((word) => [0, 8, 16, 24].map((shift) => (word >>> shift) & 0xff))
  if (octets.length === 4) return octets.join('.')
  const groups = Array.from({ length: 8 }, (_, at) =>
    (((octets[2 * at] ?? 0) << 8) | (octets[2 * at + 1] ?? 0)).toString(16),
  )
  return groups.join(':')
}
