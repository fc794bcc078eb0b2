import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** The socket of the home in use, unless somebody configured anything: then the whole command line looks. */
export function plainSocket(): string | null {
  const { FORKPOINT_HOME, FORKPOINT_HOST, FORKPOINT_CONFIG, FORKPOINT_DEBUG, XDG_CONFIG_HOME } =
    process.env
  if (FORKPOINT_HOST || FORKPOINT_CONFIG || FORKPOINT_DEBUG) return null
  const user = XDG_CONFIG_HOME || join(homedir(), '.config')
  const files = ['/etc/forkpoint/config.json', join(user, 'forkpoint')]
  if (files.some((path) => existsSync(path))) return null
  const socket = FORKPOINT_HOME
    ? join(FORKPOINT_HOME, 'forkpoint.sock')
    : '/run/forkpoint/forkpoint.sock'
  return existsSync(socket) ? socket : null
}
