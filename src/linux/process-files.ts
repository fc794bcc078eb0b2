import { readFileSync } from 'node:fs'

/** A file in a process's directory in /proc. Null if the process has ended. Other errors are thrown. */
export function readOfProcess(pid: number, name: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // ESRCH: it ended between being opened and being read.
    if (code === 'ENOENT' || code === 'ESRCH') return null
    throw error
  }
}
