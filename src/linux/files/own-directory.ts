import { lstatSync, mkdirSync } from 'node:fs'
import { PrerequisiteError } from '../../model/errors.ts'

const writableByOthers = 0o022

/** Makes a directory that only root can change, in a place where another user may have made it first. */
export function makeOwnDirectory(path: string): void {
  let found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) {
    mkdirSync(path, { recursive: true, mode: 0o711 })
    found = lstatSync(path)
  }
  if (found.isDirectory() && found.uid === 0 && (found.mode & writableByOthers) === 0) return
  throw new PrerequisiteError(`${path} is not a directory that only root can change`, {
    remedy: `check its owner with \`ls -ld ${path}\`, then remove it; Forkpoint makes a new one`,
    detail: { path, uid: found.uid, mode: found.mode.toString(8) },
  })
}
