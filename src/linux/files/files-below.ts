import { closeSync, constants, lstatSync, openSync, readdirSync } from 'node:fs'

interface FoundFile {
  /** valid only until the next file is requested */
  readonly path: Buffer
  readonly inode: number
}

/** Far below the kernel's 4096, because each file looks up every name on its path again. */
const maxPathBytes = 1024

/**
 * Every file in a tree, except directories. Paths are bytes, because names chosen by sandboxed code need
 * not be text. Nor do all of them fit into one path: when a path gets long, its directory is opened, and
 * the paths below begin there.
 */
export function* filesBelow(top: string): Generator<FoundFile> {
  /** a stack of directories to read; below those of an opened directory is its descriptor */
  const pending: (Buffer | number)[] = [Buffer.from(top)]
  try {
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (typeof next === 'number') {
        closeSync(next)
        continue
      }
      const dir = next.length > maxPathBytes ? opened(next, pending) : next
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
