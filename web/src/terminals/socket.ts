import type { Session } from '../session/session.ts'

/** A WebSocket of the daemon. A browser can set no header, so the token is among the protocols. */
export function openSocket({ token }: Pick<Session, 'token'>, path: string): WebSocket {
  const url = new URL(path, location.href.replace(/^http/, 'ws'))
  const socket = new WebSocket(url, ['forkpoint', `bearer.${token}`])
  socket.binaryType = 'arraybuffer'
  return socket
}

/** The path of something inside an environment. */
export function pathInside(id: string, ...parts: readonly string[]): string {
  return ['/v1/environments', id, ...parts]
    .map((part, index) => (index === 0 ? part : encodeURIComponent(part)))
    .join('/')
}
