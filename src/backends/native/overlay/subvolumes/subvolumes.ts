import { randomUUID } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { namesIn } from '../../../../linux/files/names-in.ts'
import { pathExists } from '../../../../linux/files/path-exists.ts'
import type { Tools } from '../../../../linux/tools.ts'
import { BackendError } from '../../../../model/errors.ts'

/** The directory in a subvolume that holds what an environment wrote. */
export function upperIn(subvolume: string): string {
  return join(subvolume, 'upper')
}

/** Copies a subvolume as it is now, read-only. */
export async function snapshotSubvolume(tools: Tools, from: string, to: string): Promise<void> {
  await tools.runCell('copying the files of an environment', ['subvolume-snapshot', from, to])
}

/** A copy of a subvolume that is in use, which is deleted when it is disposed of. */
export async function temporaryCopy(
  tools: Tools,
  from: string,
): Promise<AsyncDisposable & { readonly path: string }> {
  const path = `${from}.${randomUUID()}`
  await snapshotSubvolume(tools, from, path)
  return { path, [Symbol.asyncDispose]: () => deleteSubvolumes(tools, [path]) }
}

/** Longer flushes are repeated: meanwhile the environment has written more. */
const quickMs = 30
const mostFlushes = 3

/** Writes to disk what the next snapshot of this subvolume would have to wait for. */
export async function flushSubvolume(tools: Tools, from: string, draft: string): Promise<void> {
  for (let flushes = 1; ; flushes += 1) {
    const began = performance.now()
    await tools.runCell('flushing the files of an environment', ['subvolume-flush', from, draft])
    if (performance.now() - began < quickMs || flushes === mostFlushes) return
  }
}

/**
 * Deletes these subvolumes, copies of them that were made ahead, and drafts that a killed process left. The copies
 * come last: whoever makes one meanwhile sees that there is nothing left to copy.
 */
export async function deleteSubvolumes(tools: Tools, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    if (await pathExists(path)) await deleteSubvolume(tools, path)
    for (const copy of copiesOf(path)) await deleteSubvolume(tools, copy)
  }
}

function copiesOf(path: string): string[] {
  const [directory, own] = [dirname(path), basename(path)]
  const found = namesIn(directory).filter((name) => name.startsWith(`${own}.`))
  return found.map((name) => join(directory, name))
}

const mostDeletions = 5
const freeingMs = 200

/**
 * Deleting needs a little space, which a full file system does not have. Removing the files inside needs
 * none, so that comes first then. What was removed is free after the next commit.
 */
async function deleteSubvolume(tools: Tools, path: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await tools.runCell('deleting the files of an environment', ['subvolume-delete', path])
      return
    } catch (error) {
      const isFull = error instanceof BackendError && error.lastWords?.endsWith('(errno 28)')
      if (!isFull || tries === mostDeletions) throw error
    }
    // Fails for a snapshot, which cannot be written to.
    await tools.run('rm', ['-rf', '--', join(path, 'upper'), join(path, 'work')])
    await tools.run('sync', ['--file-system', path])
    await sleep(freeingMs)
  }
}

/** Bytes that a subvolume has written since a snapshot, or in all if that snapshot is gone. */
export async function bytesWritten(
  tools: Tools,
  subvolume: string,
  since: string | null,
): Promise<number> {
  const base = since !== null && (await pathExists(since)) ? [since] : []
  const doing = 'counting the files of an environment'
  return Number(await tools.runCell(doing, ['subvolume-written', subvolume, ...base]))
}
