import type { Lost } from '../../model/snapshot.ts'
import type { DumpImages } from '../images/dump-images.ts'
import { fileEntry, regFileEntry } from '../images/format/criu-messages.ts'
import { read } from '../images/format/schema.ts'
import type { Verdicts } from '../memory/verdicts.ts'
import { holdersOf } from './holders.ts'

/** The bit that only O_TMPFILE has. */
const O_TMPFILE = 0o20000000

/** Files that never had a name, and could get one. */
export function unnamedFiles(images: DumpImages, verdicts: Verdicts): Lost[] {
  const ids = images.files.entries.flatMap((entry) => {
    const { id, reg } = read(fileEntry, entry)
    return reg && (read(regFileEntry, reg).flags & O_TMPFILE) !== 0 ? id : []
  })
  if (ids.length === 0) return []
  const holders = holdersOf(images, verdicts)
  return ids.map((id) => ({
    process: holders.get(id) ?? null,
    object: 'a file that it opened without a name (O_TMPFILE)',
    what: 'stays without one',
    consequence: 'linkat fails with ENOENT',
  }))
}
