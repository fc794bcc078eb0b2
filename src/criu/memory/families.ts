import type { DumpImages } from '../images/dump-images.ts'
import { tellMappingsApart } from '../images/memory/inheritance.ts'
import { mmImage, pidsIn } from './dumped-processes.ts'

/** Images from which CRIU does not give a child part of its parent's memory. */
export function apartInFamilies(images: DumpImages): DumpImages {
  const memories = new Map(pidsIn(images).map((pid) => [pid, images.bytes(mmImage(pid))]))
  const pstree = images.image('pstree.img')
  const apart = tellMappingsApart({ pstree, memories, files: images.files })
  if (apart === null) return images
  const changes = [...apart.memories].map(([pid, mm]) => [mmImage(pid), mm])
  return images.with({ ...Object.fromEntries(changes), 'files.img': apart.files })
}
