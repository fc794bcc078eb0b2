import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ifThere } from '../../linux/if-there.ts'
import { fdinfoEntry, taskKobjIdsEntry } from './criu-messages.ts'
import { decodeImage } from './image-file.ts'
import { type Area, decodeAreas, isFile } from './memory/areas.ts'
import { read } from './schema.ts'

/** The files that a process of a dump has, by their numbers in files.img. */
export interface HeldFiles {
  readonly open: readonly { readonly id: number; readonly fd: number }[]
  readonly mapped: readonly Area[]
  /** the program that it runs; null if it has ended and waits for its parent */
  readonly executable: number | null
}

export function heldFiles(images: string, pid: number): HeldFiles {
  const load = (name: string) => ifThere(() => readFileSync(join(images, name)))
  const [ids] = entriesOf(load(`ids-${pid}.img`))
  const table = ids && load(`fdinfo-${read(taskKobjIdsEntry, ids).filesId}.img`)
  const open = entriesOf(table ?? null).map((entry) => read(fdinfoEntry, entry))
  const mm = load(`mm-${pid}.img`)
  if (mm === null) return { open, mapped: [], executable: null }
  const { areas, executable } = decodeAreas(mm)
  return { open, mapped: areas.filter(isFile), executable }
}

function entriesOf(image: Buffer | null): readonly Uint8Array[] {
  return image === null ? [] : decodeImage(image).entries
}
