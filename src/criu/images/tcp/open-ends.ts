import type { KernelConnection } from '../../../linux/tcp-table.ts'
import type { DumpImages } from '../dump-images.ts'
import { bothEnds } from './both-ends.ts'
import {
  type Endpoint,
  isConnection,
  isInside,
  type TcpSocket,
  tcpSockets,
  tcpStates,
} from './sockets.ts'
import { readStream, streamImage } from './stream.ts'

/** A connection inside of which only one end belongs to a process. */
export interface OpenEnd {
  readonly socket: TcpSocket
  /** `listener`: the other end waits to be accepted. `closed`: its program has closed it, the kernel is not done. */
  readonly other: 'listener' | 'closed'
  /** bytes that only the kernel has */
  readonly bytes: number
}

const { established, connecting, finWait1, closeWait, lastAck, closing } = tcpStates
const synReceived = 3
const waiting: ReadonlySet<number> = new Set([established, synReceived, closeWait])
const sending: ReadonlySet<number> = new Set([finWait1, lastAck, closing])

/** The connections that have no second end in the images. */
export function lonelyEnds(images: DumpImages): TcpSocket[] {
  const sockets = tcpSockets(images.files)
  const paired = new Set(bothEnds(sockets).map(({ sender }) => sender.id))
  return sockets.filter(
    (each) =>
      isConnection(each) && each.state !== connecting && isInside(each) && !paired.has(each.id),
  )
}

/** What the kernel knows about the other ends of these. */
export function openEnds(
  images: DumpImages,
  lonely: readonly TcpSocket[],
  known: readonly KernelConnection[],
): OpenEnd[] {
  return lonely.flatMap((socket): OpenEnd[] => {
    const other = known.find(
      ({ from, to, inode }) => inode === 0 && is(from, socket.to) && is(to, socket.from),
    )
    if (other === undefined) return []
    if (waiting.has(other.state)) {
      const { outqLen } = readStream(images.bytes(streamImage(socket.inode))).facts
      return [{ socket, other: 'listener', bytes: other.received + outqLen }]
    }
    return sending.has(other.state) ? [{ socket, other: 'closed', bytes: other.unsent }] : []
  })
}

function is(one: Endpoint, other: Endpoint): boolean {
  return one.port === other.port && one.address === other.address
}

/** Whether a copy can have it: then it is made again. */
export function canBeMadeAgain({ socket, other, bytes }: OpenEnd): boolean {
  return other === 'listener' && bytes === 0 && socket.state === established
}
