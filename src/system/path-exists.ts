import { stat } from './quick-fs.ts'

/** Whether there is something at a path of the host; links are followed. */
export async function pathExists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
