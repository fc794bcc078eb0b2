import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Bytes in the files below a directory, of which any may come and go meanwhile. */
export function writtenBytes(directory: string): number {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .map((entry) => {
        const path = join(directory, entry.name)
        if (entry.isDirectory()) return writtenBytes(path)
        return entry.isFile() ? statSync(path).blocks * 512 : 0
      })
      .reduce((sum, bytes) => sum + bytes, 0)
  } catch {
    // It is gone. Whoever asks again gets what there is then.
    return 0
  }
}
