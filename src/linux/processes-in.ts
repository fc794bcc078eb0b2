import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** By their numbers on the host; none if there is no such cgroup. */
export function processesIn(cgroup: string): number[] {
  return textOf(join(cgroup, 'cgroup.procs')).split('\n').filter(Boolean).map(Number)
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // The second one of a group that is removed at this moment.
    if (code === 'ENOENT' || code === 'ENODEV') return ''
    throw error
  }
}
