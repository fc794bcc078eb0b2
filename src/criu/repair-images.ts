import { join } from 'node:path'
import { readFile, writeFile } from '../linux/quick-fs.ts'
import { rearmTimers } from './images/timers.ts'

/** Corrects what a dump says wrongly of an environment that was frozen when it was made. */
export async function repairImages(images: string): Promise<void> {
  const path = join(images, 'files.img')
  const files = rearmTimers(await readFile(path))
  if (files !== null) await writeFile(path, files)
}
