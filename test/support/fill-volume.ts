import { execFileSync } from 'node:child_process'
import { rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

export function freeBytes(dir: string): number {
  const { bavail, bsize } = statfsSync(dir)
  return bavail * bsize
}

/** Takes all space of the file system of `dir` except for `leave` bytes, until it is disposed of. */
export function fillVolume(dir: string, leave: number): Disposable {
  const file = join(dir, 'filling')
  const bytes = freeBytes(dir) - leave
  // The last blocks may be too scattered to be taken at once.
  const take = 'fallocate -l "$1" "$0" || cat /dev/zero >> "$0" || [ -s "$0" ]'
  if (bytes > 0) execFileSync('sh', ['-c', take, file, String(bytes)], { stdio: 'pipe' })
  return { [Symbol.dispose]: () => rmSync(file, { force: true }) }
}
