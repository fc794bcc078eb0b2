import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A directory with everything in it, including times: a name that came and went has changed the
 * times of the directory it was in.
 */
export function fingerprint(path: string): string[] {
  const is = lstatSync(path, { bigint: true })
  const facts = [path, is.ino, is.mode, is.uid, is.gid, is.nlink, is.mtimeNs, is.ctimeNs]
  const line = facts.join(' ')
  if (is.isSymbolicLink()) return [`${line} ${readlinkSync(path)}`]
  if (is.isFile()) return [`${line} ${readFileSync(path, 'latin1')}`]
  if (!is.isDirectory()) return [line]
  const names = readdirSync(path).sort()
  return [line, ...names.flatMap((name) => fingerprint(join(path, name)))]
}
