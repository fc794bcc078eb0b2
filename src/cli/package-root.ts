import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PrerequisiteError } from '../model/errors.ts'

/** A script of the package, wherever in the package this code was bundled. */
export function packageScript(name: string): string {
  for (let dir = dirname(fileURLToPath(import.meta.url)); dir !== '/'; dir = dirname(dir)) {
    const path = join(dir, 'scripts', name)
    if (existsSync(path)) return path
  }
  throw new PrerequisiteError(`the script scripts/${name} is missing`, {
    remedy: 'install Forkpoint again; its package is incomplete',
  })
}
