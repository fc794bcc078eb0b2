import { execFile } from 'node:child_process'
import type { FileHandle } from 'node:fs/promises'
import { promisify } from 'node:util'
import { BackendError } from '../../model/errors.ts'
import { reachable } from './host-path.ts'

const run = promisify(execFile)

/**
 * Removes `name`, which we chose ourselves, in an open directory, with everything below it. Node's own
 * `rm` uses whole paths in UTF-8, so it fails on very deep trees and on names that are not text.
 */
export async function removeHostTree(parent: FileHandle, name: string): Promise<void> {
  const path = `${reachable(parent)}/${name}`
  try {
    await run('rm', ['-rf', '--one-file-system', '--', path])
  } catch (cause) {
    throw new BackendError(`cannot remove ${name}: ${(cause as Error).message}`, {
      remedy: 'fix the cause, then remove it by hand',
      cause,
    })
  }
}
