import type { Lost } from '../../model/snapshot.ts'
import type { DumpImages } from '../images/dump-images.ts'
import { canBeMadeAgain, type OpenEnd } from '../images/tcp/open-ends.ts'
import { outsideConnections } from '../images/tcp/outside-connections.ts'
import { inWords, type TcpSocket } from '../images/tcp/sockets.ts'
import type { Verdicts } from '../memory/verdicts.ts'
import { holdersOf } from './holders.ts'

interface LostConnection extends Pick<Lost, 'what' | 'consequence'> {
  readonly socket: TcpSocket
}

/** The connections that a copy cannot continue. */
export function lostConnections(
  images: DumpImages,
  verdicts: Verdicts,
  openEnds: readonly OpenEnd[],
): Lost[] {
  const lost = [...outsideConnections(images.files).map(outside), ...openEnds.flatMap(cutShort)]
  if (lost.length === 0) return []
  const holders = holdersOf(images, verdicts)
  return lost.map(({ socket, what, consequence }) => ({
    process: holders.get(socket.id) ?? null,
    object: connectionInWords(socket),
    what,
    consequence,
  }))
}

export function connectionInWords({ from, to }: TcpSocket): string {
  return `the TCP connection from ${inWords(from)} to ${inWords(to)}`
}

function outside(socket: TcpSocket): LostConnection {
  const consequence = 'reads and writes fail, and the program must connect again'
  return { socket, what: 'is closed', consequence }
}

/** Nobody can read what only the kernel has. */
function cutShort(end: OpenEnd): LostConnection[] {
  const { socket, other, bytes } = end
  if (bytes === 0 || canBeMadeAgain(end)) return []
  const what =
    other === 'listener'
      ? `is closed, with ${bytes} bytes that were sent before anybody accepted it`
      : `ends early, without ${bytes} bytes that were on the way when its other end was closed`
  return [{ socket, what, consequence: 'reads fail after what has arrived' }]
}
