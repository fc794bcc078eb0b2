import type { DumpImages } from '../dump-images.ts'
import { changeSockets } from './change-sockets.ts'
import { inWords, isConnection, type TcpSocket, tcpSockets, tcpStates } from './sockets.ts'
import { changeQueue, readStream, type Stream, streamImage } from './stream.ts'

/** A connection whose two ends are both in the images, seen from one of them. */
export interface Ends {
  readonly sender: TcpSocket
  readonly receiver: TcpSocket
}

const { connecting, finWait1, finWait2, closeWait, lastAck, closing } = tcpStates
const endSent: ReadonlySet<number> = new Set([finWait1, finWait2, closing, lastAck])
/** they have heard the last of the other end */
export const endReceived: ReadonlySet<number> = new Set([closeWait, lastAck, closing])

const nameOf = (one: TcpSocket['from'], other: TcpSocket['from']) =>
  `${inWords(one)} ${inWords(other)}`

/** Each connection twice, once in each direction. */
export function bothEnds(sockets: readonly TcpSocket[]): Ends[] {
  const connected = sockets.filter((each) => isConnection(each) && each.state !== connecting)
  const byName = new Map(connected.map((each) => [nameOf(each.from, each.to), each]))
  return connected.flatMap((sender) => {
    const receiver = byName.get(nameOf(sender.to, sender.from))
    return receiver === undefined ? [] : { sender, receiver }
  })
}

/** Sequence numbers are 32 bits, and wrap around. */
const difference = (a: number, b: number): number => (a - b) | 0

/** How many bytes of the sender's queue have arrived; null if the two were not dumped at the same moment. */
function arrivedOf({ sender, receiver }: Ends, from: Stream, at: Stream): number | null {
  const end = from.facts.outqSeq - (endSent.has(sender.state) ? 1 : 0)
  const next = at.facts.inqSeq - (endReceived.has(receiver.state) ? 1 : 0)
  const arrived = difference(next, end - from.facts.outqLen)
  return arrived < 0 || arrived > from.facts.outqLen ? null : arrived
}

const streamOf = (images: DumpImages, { inode }: TcpSocket) =>
  readStream(images.bytes(streamImage(inode)))

/**
 * A connection whose ends contradict each other: a timer of the kernel moved data while CRIU had dumped one of
 * them. Null if there is none.
 */
export function contradiction(images: DumpImages): Ends | null {
  const ends = bothEnds(tcpSockets(images.files))
  const contradicts = (each: Ends) =>
    arrivedOf(each, streamOf(images, each.sender), streamOf(images, each.receiver)) === null
  return ends.find(contradicts) ?? null
}

/**
 * The images with the queues of both ends in step. What has arrived is acknowledged, and everything else is not
 * sent yet: nothing is on its way in a copy. Otherwise a copy would wait for acknowledgements that were lost, a
 * second or more.
 */
export function alignEnds(images: DumpImages): DumpImages {
  const ends = bothEnds(tcpSockets(images.files))
  const ended = new Set<number>()
  let aligned = images
  for (const each of ends) {
    const { sender, receiver } = each
    const name = streamImage(sender.inode)
    const from = streamOf(aligned, sender)
    const arrived = arrivedOf(each, from, streamOf(aligned, receiver))
    if (arrived === null) continue
    const { sndWnd, outqLen, unsqLen } = from.facts
    if (arrived === outqLen && sender.state === finWait1 && endReceived.has(receiver.state)) {
      ended.add(sender.id)
    }
    if (arrived === 0 && outqLen === unsqLen) continue
    const window = Math.max(0, (sndWnd ?? 0) - arrived)
    const changed = changeQueue(aligned.bytes(name), from.queued.subarray(arrived), window)
    aligned = aligned.with({ [name]: changed })
  }
  const files = changeSockets(aligned.files, ended, () => ({ state: finWait2 }))
  return aligned.with({ 'files.img': files })
}
