import { statSync } from 'node:fs'
import { ifExists } from './if-exists.ts'

/** Whether a path exists on the host; follows links. */
export async function pathExists(path: string): Promise<boolean> {
  return ifExists(() => statSync(path)) !== null
}
