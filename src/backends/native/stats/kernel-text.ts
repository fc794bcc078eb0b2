import { readFile } from 'node:fs/promises'

/**
 * What the kernel reports about a process or a cgroup. Empty if it no longer exists: it may end at any
 * moment, and then uses nothing.
 */
export function kernelText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}
