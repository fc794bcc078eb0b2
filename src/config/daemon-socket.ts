import { join } from 'node:path'
import { schema } from './schema.ts'

/** Where the daemon of a home listens, and where clients look for it. */
export function daemonSocket(home: string): string {
  const isDefault = home === schema.home.default({ memoryBytes: 0 })
  return isDefault ? '/run/forkpoint/forkpoint.sock' : join(home, 'forkpoint.sock')
}
