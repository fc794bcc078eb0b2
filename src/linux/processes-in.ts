import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The host pids of the processes in a cgroup; empty if the cgroup does not exist. */
export function processesIn(cgroup: string): number[] {
  return textOf(join(cgroup, 'cgroup.procs')).split('\n').filter(Boolean).map(Number)
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // ENODEV: the group is being removed at this moment.
    if (code === 'ENOENT' || code === 'ENODEV') return ''
    throw error
  }
}
