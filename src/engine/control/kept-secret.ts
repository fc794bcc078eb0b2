import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { PrerequisiteError } from '../../model/errors.ts'

const bytes = 32

/** Random bytes that every daemon of a home shares: made by the first of them, readable by root only. */
export function keptSecret(path: string): Buffer {
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, randomBytes(bytes), { mode: 0o600 })
  try {
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft)
  }
  const secret = readFileSync(path)
  if (secret.length === bytes) return secret
  throw new PrerequisiteError(`${path} has ${secret.length} bytes instead of ${bytes}`, {
    remedy: 'remove it, and start the daemon again; sandboxes then need to be connected to again',
  })
}
