import type { ImageFile } from '../format/image-file.ts'
import { changeSockets, closedFrom } from './change-sockets.ts'
import { isConnection, isInside, type TcpSocket, tcpSockets, tcpStates } from './sockets.ts'

/**
 * files.img with every TCP connection to the outside closed: a copy has another address, and the peer is
 * still talking to the original. Connections inside stay.
 */
export function closeOutsideConnections(files: ImageFile): ImageFile {
  const outside = new Set(outsideSockets(files).map(({ id }) => id))
  return changeSockets(files, outside, (socket) => closedFrom(socket, 'unbound'))
}

/** Connections to other computers. What is still being connected is connected again, and not lost. */
export function outsideConnections(files: ImageFile): TcpSocket[] {
  return outsideSockets(files).filter(({ state }) => state !== tcpStates.connecting)
}

function outsideSockets(files: ImageFile): TcpSocket[] {
  return tcpSockets(files).filter((socket) => isConnection(socket) && !isInside(socket))
}
