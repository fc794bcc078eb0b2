import { statSync } from 'node:fs'
import { ifThere } from './if-there.ts'

/** Whether there is something at a path of the host; links are followed. */
export async function pathExists(path: string): Promise<boolean> {
  return ifThere(() => statSync(path)) !== null
}
