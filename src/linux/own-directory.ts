import { lstatSync, mkdirSync } from 'node:fs'
import { PrerequisiteError } from '../model/errors.ts'

const writableByOthers = 0o022

/** A directory that only root can change, below one where anybody may have been first. */
export function makeOwnDirectory(path: string): void {
  let found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) {
    mkdirSync(path, { recursive: true, mode: 0o711 })
    found = lstatSync(path)
  }
  if (found.isDirectory() && found.uid === 0 && (found.mode & writableByOthers) === 0) return
  throw new PrerequisiteError(`${path} is not a directory that only root can change`, {
    remedy: `see who made it (\`ls -ld ${path}\`), then remove it; Forkpoint makes it anew`,
    detail: { path, uid: found.uid, mode: found.mode.toString(8) },
  })
}
