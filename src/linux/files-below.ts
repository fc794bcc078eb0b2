import { closeSync, constants, lstatSync, openSync, readdirSync } from 'node:fs'

interface FoundFile {
  /** leads to the file until the next one is asked for */
  readonly path: Buffer
  readonly inode: number
}

/** Far below the 4096 that the kernel takes: each name on the way is looked up again for each file. */
const longestPath = 1024

/**
 * Every file in a tree, but for its directories. Paths are bytes: names that sandboxed code chose need
 * not be text. Nor need they fit into a path all together: where one gets long, its directory is
 * opened, and the paths below begin there.
 */
export function* filesBelow(top: string): Generator<FoundFile> {
  /** directories to be looked into, and below those of an opened one its descriptor */
  const pending: (Buffer | number)[] = [Buffer.from(top)]
  try {
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (typeof next === 'number') {
        closeSync(next)
        continue
      }
      const dir = next.length > longestPath ? opened(next, pending) : next
      for (const name of readdirSync(dir, { encoding: 'buffer' })) {
        const path = Buffer.concat([dir, Buffer.from('/'), name])
        const info = lstatSync(path)
        if (info.isDirectory()) pending.push(path)
        else yield { path, inode: info.ino }
      }
    }
  } finally {
    for (const left of pending) if (typeof left === 'number') closeSync(left)
  }
}

function opened(dir: Buffer, pending: (Buffer | number)[]): Buffer {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants
  const descriptor = openSync(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  pending.push(descriptor)
  return Buffer.from(`/proc/self/fd/${descriptor}`)
}
