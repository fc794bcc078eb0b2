import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { unmappedId } from '../model/unmapped-id.ts'
import { ifThere } from './if-there.ts'

/**
 * Closes a directory to everybody inside an environment, if it holds only the names that `isOurs`
 * knows. One that is shared with other files stays as it is; then those
 * of our own in it are closed one by one.
 */
export function openClosedDirectory(path: string, isOurs: (name: string) => boolean): void {
  if (isClosed(statSync(path))) return
  const names = readdirSync(path)
  if (names.every(isOurs)) close(path, 0o700)
  else for (const name of names.filter(isOurs)) closeFile(join(path, name))
}

/** Whether everybody inside environments is kept out. */
export function isClosed({ uid, gid, mode }: { uid: number; gid: number; mode: number }): boolean {
  return uid === unmappedId && gid === unmappedId && (mode & 0o007) === 0
}

/**
 * Closed from its first moment: a running environment that sees it before keeps in memory whom it
 * belonged to.
 */
export function makeClosed(path: string): void {
  const owner = [`--reuid=${unmappedId}`, `--regid=${unmappedId}`, '--clear-groups']
  const able = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override']
  // Where this cannot be done, the plain way says why, or works.
  spawnSync('setpriv', [...owner, ...able, 'mkdir', '-m', '700', '--', path], { stdio: 'ignore' })
  if (ifThere(() => lstatSync(path)) === null) mkdirSync(path, { mode: 0o700 })
}

function close(path: string, mode: number): void {
  try {
    chownSync(path, unmappedId, unmappedId)
    chmodSync(path, mode)
  } catch {
    // A file system that knows no such owner, or that others serve: `doctor` tells of it.
  }
}

function closeFile(path: string): void {
  const found = ifThere(() => lstatSync(path))
  if (found?.isFile() && !isClosed(found)) close(path, 0o600)
}
