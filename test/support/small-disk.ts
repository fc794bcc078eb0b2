import { execFileSync } from 'node:child_process'
import { rmSync, truncateSync, writeFileSync } from 'node:fs'

/** Puts a file system of its own below a home that is still empty. Dispose of it once nothing uses the home. */
export function mountSmallDisk(home: string, bytes: number): Disposable {
  const image = `${home}.disk`
  writeFileSync(image, '')
  truncateSync(image, bytes)
  execFileSync('mkfs.ext4', ['-q', '-F', '-m', '0', image])
  execFileSync('mount', ['-o', 'loop', image, home])
  return {
    [Symbol.dispose]: () => {
      execFileSync('umount', [home])
      rmSync(image)
    },
  }
}
