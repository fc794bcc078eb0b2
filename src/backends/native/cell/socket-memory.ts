import { join } from 'node:path'
import { writeFile } from '../../../linux/files/quick-fs.ts'

/** Sockets may use this fraction (1/4) of an environment's memory limit. */
const partForSockets = 4
const minForSockets = 16 * 1024 ** 2

/**
 * Data waiting in sockets is kernel memory. v2 counts it with the rest. A v1 group counts it only if it has
 * a separate limit, and only for sockets made after that. Without one, a few thousand datagram sockets use
 * up what the host has for all of its sockets.
 */
export async function limitSocketMemory(group: string, memoryBytes: number): Promise<void> {
  const bytes = Math.max(minForSockets, Math.floor(memoryBytes / partForSockets))
  // Some kernels are built without this limit.
  await writeFile(join(group, 'memory.kmem.tcp.limit_in_bytes'), String(bytes)).catch(() => {})
}
