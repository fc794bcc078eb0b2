import { pidsIn } from '../../memory/dumped-processes.ts'
import type { Attribute } from '../attributes.ts'
import type { DumpImages } from '../dump-images.ts'
import { heldFiles } from '../held-files.ts'
import { alignEnds, endReceived } from './both-ends.ts'
import { changeSockets, closedFrom } from './change-sockets.ts'
import { canBeMadeAgain, type OpenEnd } from './open-ends.ts'
import { outsideConnections } from './outside-connections.ts'
import { isConnection, isInside, type TcpSocket, tcpSockets, tcpStates } from './sockets.ts'
import { hasConnections, readStream, streamImage, withWindowOfOther } from './stream.ts'

/** Images whose connections can be restored, and what else has to be done for them. See native/cell/attributes/. */
export interface RestorableConnections {
  readonly images: DumpImages
  readonly attributes: readonly Attribute[]
}

const { established, connecting, closeWait } = tcpStates

/** Connections in the images of processes and of copies of them. */
export function restorableConnections(
  dumped: DumpImages,
  openEnds: readonly OpenEnd[],
): RestorableConnections {
  if (!hasConnections(dumped)) return { images: dumped, attributes: [] }
  const again = [
    ...openEnds.filter(canBeMadeAgain).map(({ socket }) => socket),
    ...tcpSockets(dumped.files).filter(({ state }) => state === connecting),
  ]
  const images = withWindows(alignEnds(disconnected(dumped, again)))
  const place = placesIn(images)
  const attributes = [
    ...tcpSockets(images.files)
      .filter((socket) => isConnection(socket) && sendsIpv4(socket))
      .flatMap((socket) => place(socket, 'segments', '-')),
    ...inOrder(again).flatMap((socket) => place(socket, 'connection', destinationOf(socket))),
    ...heldBack(images).flatMap((socket) => place(socket, 'push', '-')),
    ...outsideConnections(images.files).flatMap((socket) =>
      place(socket, 'reset', arrivedOn(images, socket)),
    ),
  ]
  return { images, attributes }
}

function sendsIpv4({ family, to }: TcpSocket): boolean {
  return family === 4 || !to.address.includes(':')
}

function withWindows(images: DumpImages): DumpImages {
  const names = tcpSockets(images.files)
    .filter(({ state }) => endReceived.has(state))
    .map(({ inode }) => streamImage(inode))
  return images.with(
    Object.fromEntries(names.map((name) => [name, withWindowOfOther(images.bytes(name))])),
  )
}

/** What will be connected again begins as a socket that has only its own name. */
function disconnected(images: DumpImages, sockets: readonly TcpSocket[]): DumpImages {
  const ids = (wanted: (socket: TcpSocket) => boolean) =>
    new Set(sockets.filter(wanted).map(({ id }) => id))
  const inside = changeSockets(images.files, ids(isInside), (each) => closedFrom(each, 'bound'))
  // Its address is not that of a copy.
  const all = changeSockets(
    inside,
    ids((each) => !isInside(each)),
    (each) => closedFrom(each, 'unbound'),
  )
  return images.with({ 'files.img': all })
}

/** Those that were made first wait first, and what was not answered comes last. */
function inOrder(sockets: readonly TcpSocket[]): TcpSocket[] {
  return sockets.toSorted((a, b) => a.state - b.state || a.inode - b.inode)
}

function destinationOf({ family, to, state }: TcpSocket): string {
  const isMapped = family === 6 && !to.address.includes(':')
  const address = isMapped ? `::ffff:${to.address}` : to.address
  return `${family} ${address} ${to.port} ${state === established ? 'established' : 'connecting'}`
}

/** Those that the kernel would send from only when a timer expires. */
function heldBack(images: DumpImages): TcpSocket[] {
  return tcpSockets(images.files).filter((socket) => {
    if (!isConnection(socket) || !isInside(socket) || socket.state === established) return false
    return socket.state !== closeWait || streamOf(images, socket).facts.outqLen > 0
  })
}

const streamOf = (images: DumpImages, { inode }: TcpSocket) =>
  readStream(images.bytes(streamImage(inode)))

function arrivedOn(images: DumpImages, socket: TcpSocket): string {
  const { facts, arrivedAt } = streamOf(images, socket)
  const end = socket.state === closeWait ? 'ended' : 'open'
  return `${socket.family} ${socket.inode.toString(16)} ${arrivedAt} ${facts.inqLen} ${end}`
}

/** Makes attributes of sockets, each for one descriptor that refers to it. */
function placesIn(images: DumpImages) {
  const places = new Map<number, { readonly process: number; readonly number: number }>()
  for (const pid of pidsIn(images)) {
    for (const { id, fd } of heldFiles(images, pid).open) {
      places.set(id, { process: pid, number: fd })
    }
  }
  return ({ id }: TcpSocket, word: string, value: string): Attribute[] => {
    const place = places.get(id)
    return place === undefined ? [] : [{ word, ...place, value }]
  }
}
