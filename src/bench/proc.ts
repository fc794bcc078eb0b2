import { readdirSync, readFileSync } from 'node:fs'

export function pids(): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
}

/**
 * Processes end while they are being read, and one that has ended has no mounts (EINVAL). Any other
 * failure must not look like an empty file.
 */
export function readOf(pid: string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EINVAL') return ''
    throw error
  }
}
