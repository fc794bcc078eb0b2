import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Work that ends before this is never counted ahead. */
const quietMs = 1000

/** A total that takes a while to find out, so nobody looks for it before the work has taken long. */
export class LateTotal {
  readonly #find: () => Promise<number | null>
  readonly #startedAt = performance.now()
  #isSought = false
  #found: number | null = null

  constructor(find: () => Promise<number | null>) {
    this.#find = find
  }

  /** Null until it is known. */
  bytes(): number | null {
    if (!this.#isSought && performance.now() - this.#startedAt >= quietMs) void this.#seek()
    return this.#found
  }

  async #seek(): Promise<void> {
    this.#isSought = true
    // Without a total, the progress has no percentage.
    this.#found = await this.#find().catch(() => null)
  }
}

/** The sizes of all files below a path of this machine. No symlink is followed. */
export async function bytesBelow(path: string): Promise<number> {
  const found = await lstat(path)
  if (!found.isDirectory()) return found.isFile() ? found.size : 0
  let bytes = 0
  for (const name of await readdir(path)) bytes += await bytesBelow(join(path, name))
  return bytes
}
