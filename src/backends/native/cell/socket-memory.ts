import { join } from 'node:path'
import { writeFile } from '../../../linux/quick-fs.ts'

/** Of the memory that an environment may use. */
const partForSockets = 4
const leastForSockets = 16 * 1024 ** 2

/**
 * What waits in sockets is memory of the kernel. v2 counts it with the rest; a v1 group does only from
 * when it has a limit of its own, and for sockets that are made later. Without, a few thousand datagram
 * sockets take what the host has for all of them.
 */
export async function limitSocketMemory(group: string, memoryBytes: number): Promise<void> {
  const bytes = Math.max(leastForSockets, Math.floor(memoryBytes / partForSockets))
  // Some kernels were built without it.
  await writeFile(join(group, 'memory.kmem.tcp.limit_in_bytes'), String(bytes)).catch(() => {})
}
