import type { DumpImages } from '../dump-images.ts'
import { type Area, decodeAreas, withAreas } from './areas.ts'

/** How CRIU marks what the kernel maps into every process: code, and the data that it reads. */
const VDSO = 1 << 3
const VVAR = 1 << 12

const isVdso = ({ status }: Area) => (status & VDSO) !== 0
const isVvar = ({ status }: Area) => (status & VVAR) !== 0

/**
 * Valgrind unmaps the kernel's code and keeps its data, which nothing can read then. CRIU cannot restore
 * one without the other.
 */
export function withoutLoneData(images: DumpImages): DumpImages {
  const changes: Record<string, Buffer> = {}
  for (const name of images.matching(/^mm-\d+\.img$/)) {
    const { image, areas } = decodeAreas(images.bytes(name))
    if (areas.some(isVdso) || !areas.some(isVvar)) continue
    const others = areas.filter((area) => !isVvar(area)).map(({ entry }) => entry)
    changes[name] = withAreas(image, others)
  }
  return images.with(changes)
}
