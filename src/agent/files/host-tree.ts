import { execFile } from 'node:child_process'
import type { FileHandle } from 'node:fs/promises'
import { promisify } from 'node:util'
import { BackendError } from '../../model/errors.ts'
import { reachable } from './host-path.ts'

const run = promisify(execFile)

/**
 * Removes `name`, a name of ours, in an open directory, and everything below it. Node's own `rm` works
 * with whole paths in UTF-8, and is defeated by trees deeper than a path can be long and by names that
 * are not text.
 */
export async function removeHostTree(parent: FileHandle, name: string): Promise<void> {
  const path = `${reachable(parent)}/${name}`
  try {
    await run('rm', ['-rf', '--one-file-system', '--', path])
  } catch (cause) {
    throw new BackendError(`cannot remove ${name}: ${(cause as Error).message}`, { cause })
  }
}
