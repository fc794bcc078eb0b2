import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { unmappedId } from '../../model/files/unmapped-id.ts'
import { ifExists } from './if-exists.ts'

/**
 * Closes a directory to everybody inside environments, if it holds only names that `isOurs` accepts. A
 * directory that also holds other files stays open, and only our own files in it are closed.
 */
export function openClosedDirectory(path: string, isOurs: (name: string) => boolean): void {
  if (isClosed(statSync(path))) return
  const names = readdirSync(path)
  if (names.every(isOurs)) close(path, 0o700)
  else for (const name of names.filter(isOurs)) closeFile(join(path, name))
}

/** Whether nobody inside environments can open it. */
export function isClosed({ uid, gid, mode }: { uid: number; gid: number; mode: number }): boolean {
  return uid === unmappedId && gid === unmappedId && (mode & 0o007) === 0
}

/**
 * Makes a directory that is closed from the start: a running environment that saw it before would keep
 * its old owner in the cache.
 */
export function makeClosed(path: string): void {
  const owner = [`--reuid=${unmappedId}`, `--regid=${unmappedId}`, '--clear-groups']
  const able = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override']
  // If this fails, a plain mkdir works or reports the reason.
  spawnSync('setpriv', [...owner, ...able, 'mkdir', '-m', '700', '--', path], { stdio: 'ignore' })
  if (ifExists(() => lstatSync(path)) === null) mkdirSync(path, { mode: 0o700 })
}

function close(path: string, mode: number): void {
  try {
    chownSync(path, unmappedId, unmappedId)
    chmodSync(path, mode)
  } catch {
    // The file system does not support such an owner; `doctor` reports it.
  }
}

function closeFile(path: string): void {
  const found = ifExists(() => lstatSync(path))
  if (found?.isFile() && !isClosed(found)) close(path, 0o600)
}
