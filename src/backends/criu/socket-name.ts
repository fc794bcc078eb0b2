import { InvalidInputError } from '../../model/errors.ts'

/** What the address of a Unix socket holds, without the NUL at its end. */
const longest = 107

export function requireSocketName(socket: string): string {
  if (Buffer.byteLength(socket) <= longest) return socket
  throw new InvalidInputError(`the home is too deep for the agent's socket: ${socket}`, {
    remedy: 'use a home with a shorter path',
  })
}
