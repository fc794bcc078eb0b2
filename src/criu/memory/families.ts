import { join } from 'node:path'
import { readFile } from '../../linux/quick-fs.ts'
import { tellMappingsApart } from '../images/memory/inheritance.ts'
import { mmImage } from './dumped-processes.ts'
import { replaceImage } from './rewrite-images.ts'

/** Makes sure that CRIU gives no child a part of its parent's memory; returns files.img for that. */
export async function apartInFamilies(
  images: string,
  files: Buffer,
  processes: readonly { readonly pid: number; readonly mm: Buffer }[],
): Promise<Buffer> {
  const pstree = await readFile(join(images, 'pstree.img'))
  const memories = new Map(processes.map(({ pid, mm }) => [pid, mm]))
  const told = tellMappingsApart({ pstree, memories, files })
  if (told === null) return files
  const changed = [...told.memories].map(([pid, mm]) => replaceImage(mmImage(images, pid), mm))
  await Promise.all(changed)
  return told.files
}
