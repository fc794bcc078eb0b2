import type { DumpImages } from './dump-images.ts'
import { coreEntry, threadInfoX86, userX86Regs } from './format/criu-messages.ts'
import { read } from './format/schema.ts'

/** What the last system calls of all threads returned, if they still have it; null on other machines. */
export function returnedBy(images: DumpImages): number[] | null {
  const values: number[] = []
  for (const name of images.matching(/^core-\d+\.img$/)) {
    for (const core of images.image(name).entries) {
      const { threadInfo } = read(coreEntry, core)
      if (!threadInfo) return null
      const { gpregs } = read(threadInfoX86, threadInfo)
      const { ax } = read(userX86Regs, gpregs)
      if (ax > 0n && ax < Number.MAX_SAFE_INTEGER) values.push(Number(ax))
    }
  }
  return values
}
