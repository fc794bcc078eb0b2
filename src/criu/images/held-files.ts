import type { DumpImages } from './dump-images.ts'
import { fdinfoEntry, taskKobjIdsEntry } from './format/criu-messages.ts'
import { read } from './format/schema.ts'
import { type Area, decodeAreas, isFile } from './memory/areas.ts'

/** The files that a dumped process holds, by their numbers in files.img. */
export interface HeldFiles {
  readonly open: readonly { readonly id: number; readonly fd: number }[]
  readonly mapped: readonly Area[]
  /** the program that it runs; null if it has ended and waits for its parent */
  readonly executable: number | null
}

export function heldFiles(images: DumpImages, pid: number): HeldFiles {
  const entriesOf = (name: string) => (images.has(name) ? images.image(name).entries : [])
  const [ids] = entriesOf(`ids-${pid}.img`)
  const table = ids ? entriesOf(`fdinfo-${read(taskKobjIdsEntry, ids).filesId}.img`) : []
  const open = table.map((entry) => read(fdinfoEntry, entry))
  const mm = `mm-${pid}.img`
  if (!images.has(mm)) return { open, mapped: [], executable: null }
  const { areas, executable } = decodeAreas(images.bytes(mm))
  return { open, mapped: areas.filter(isFile), executable }
}
