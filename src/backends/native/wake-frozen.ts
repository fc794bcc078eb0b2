import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Lets processes run that wait frozen; false if they do not. Without waiting: their agent's answer
 * tells that they run, and kernel files need no thread pool.
 */
export function wakeFrozen(dirs: readonly string[]): boolean {
  for (const [file, frozen, thawed] of freezers(dirs[0] ?? '')) {
    try {
      if (readFileSync(file, 'utf8').trim() !== frozen) return false
      writeFileSync(file, thawed)
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  return false
}

const freezers = (dir: string) =>
  [
    [join(dir, 'cgroup.freeze'), '1', '0'],
    [join(dir, 'freezer.state'), 'FROZEN', 'THAWED'],
  ] as const
