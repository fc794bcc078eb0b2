import { tcpTable } from '../linux/tcp-table.ts'
import type { DumpImages } from './images/dump-images.ts'
import { contradiction } from './images/tcp/both-ends.ts'
import { canBeMadeAgain, lonelyEnds, type OpenEnd, openEnds } from './images/tcp/open-ends.ts'
import { inWords, type TcpSocket } from './images/tcp/sockets.ts'
import { hasConnections } from './images/tcp/stream.ts'
import { NotStillError } from './not-still.ts'

/** How long a program may take to accept a connection, or to read what it was sent. */
export const acceptPatienceMs = 2000

const between = ({ from, to }: TcpSocket) =>
  `the connection from ${inWords(from)} to ${inWords(to)}`

/** The environment is frozen, but the kernel still sends what it has to: when it sees a window, or a timer ends. */
export function requireSteadyConnections(images: DumpImages): void {
  const ends = hasConnections(images) ? contradiction(images) : null
  if (ends === null) return
  throw new NotStillError(`cannot capture ${between(ends.sender)}: data were on the way`, {
    remedy: 'try again; if it happens again, let the program rest, or end it',
    detail: { object: 'a TCP connection in which data arrived at that very moment' },
  })
}

/** The connections inside of which the kernel has one end, in the network that a process is in. */
export function openConnections(images: DumpImages, pid: number): OpenEnd[] {
  const lonely = hasConnections(images) ? lonelyEnds(images) : []
  return lonely.length === 0 ? [] : openEnds(images, lonely, tcpTable(pid))
}

/** The first of them with something that only the kernel has, which no copy would get; null if there is none. */
export function unreadable(ends: readonly OpenEnd[]): NotStillError | null {
  const end = ends.find((each) => each.bytes > 0 && !canBeMadeAgain(each))
  if (end === undefined) return null
  const why =
    end.other === 'listener'
      ? 'the program listening there has not accepted yet, and data wait there'
      : 'its other end is closed, and data are still on the way'
  return new NotStillError(
    `cannot capture ${between(end.socket)}: ${why}`,
    {
      remedy: 'let the program continue and try again, or use `--mode filesystem`',
      detail: { object: between(end.socket) },
    },
    acceptPatienceMs,
  )
}
