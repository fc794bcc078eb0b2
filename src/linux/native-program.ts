import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PrerequisiteError } from '../model/errors.ts'

/**
 * The path of a file in `native/build`, wherever in the package this code is bundled. A checkout has what it compiled; an
 * npm package has one folder for each kind of machine.
 */
export function nativeProgram(
  name: 'agent' | 'cell' | 'preload.so' | 'limits.so' | 'foreign.so' | 'filter',
): string {
  for (let dir = dirname(fileURLToPath(import.meta.url)); dir !== '/'; dir = dirname(dir)) {
    for (const machine of ['', process.arch]) {
      const path = join(dir, 'native/build', machine, name)
      if (existsSync(path)) return path
    }
  }
  throw new PrerequisiteError(`native/build/${name} is missing`, {
    remedy: 'run `make -C native`, or start Forkpoint through ./forkpoint, which builds it',
  })
}
