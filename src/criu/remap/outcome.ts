import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ifExists } from '../../linux/files/if-exists.ts'
import type { MemoryTracking } from '../../model/snapshot.ts'
import type { DumpImages } from '../images/dump-images.ts'
import { dumpedMemory, pidsIn } from '../memory/dumped-processes.ts'
import { knownPages, mappedBytes } from '../memory/needed-pages.ts'

/** The file in the directory of a life that says what could not be mapped (see native/cell/remap/remap.c). */
export const outcomeName = 'remapped'

/** The file that says what is to be mapped. */
export const planName = 'remap.plan'

interface MappedLife {
  /** its directory on the host */
  readonly life: string
  /** the reason for mapping its memory */
  readonly why: string
}

const mib = 2 ** 20

/** How much of its memory a life had mapped from earlier snapshots when it was dumped. */
export function dumpOfMapped(dumped: DumpImages, { life, why }: MappedLife): MemoryTracking {
  const known = knownPages(dumped.files)
  const memories = known.size === 0 ? [] : pidsIn(dumped).map((pid) => dumpedMemory(dumped, pid))
  const bytes = memories.reduce((sum, memory) => sum + mappedBytes(known, memory), 0)
  const failure = ifExists(() => readFileSync(join(life, outcomeName), 'utf8')) ?? ''
  if (bytes === 0)
    return { mode: 'full', why: failure || 'nothing was mapped from earlier snapshots' }
  const mapped = `${Math.round(bytes / mib)} MiB were mapped from earlier snapshots`
  return { mode: 'remapped', why: [`${why}: ${mapped}`, failure].filter(Boolean).join('; ') }
}
