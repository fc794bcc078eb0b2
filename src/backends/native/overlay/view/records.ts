import { bytesToText } from '../../../../agent/files/byte-text.ts'
import type { ChangedFile, FileKind } from '../../../../model/files/file-change.ts'
import type { Layer } from '../../cell/cell.ts'
import type { IdRange } from './native-view.ts'

/** An entry of a layer, with the ids that it has there. */
export interface LayerEntry {
  readonly path: string
  /** index of its layer in the view */
  readonly layer: number
  readonly type: FileKind | 'whiteout'
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly size: number
  readonly mtimeMs: number
  /** `major:minor` of a device */
  readonly device: string
  readonly inode: string
  readonly links: number
  /** true for a directory that hides those with the same path in lower layers */
  readonly opaque: boolean
  readonly target: string
}

const types: Readonly<Record<string, LayerEntry['type']>> = {
  f: 'file',
  d: 'directory',
  l: 'symlink',
  c: 'character-device',
  b: 'block-device',
  p: 'fifo',
  s: 'socket',
  w: 'whiteout',
}

const slash = '/'.charCodeAt(0)

/** What the kernel shows for an id that has no meaning inside. */
const overflowId = 65534

/** Entries of `cell scan`, `lookup` and `list`; null if there is none (native/cell/files/record.c). */
export async function* parseRecords(
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<LayerEntry | null> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let at = 0
    for (;;) {
      const facts = bytes.indexOf(0, at)
      const target = facts < 0 ? -1 : bytes.indexOf(0, facts + 1)
      const path = target < 0 ? -1 : bytes.indexOf(0, target + 1)
      if (path < 0) break
      const fields = bytes.toString('latin1', at, facts)
      const link = bytes.subarray(facts + 1, target)
      // Replaces the NUL before the path, so that it can be read as an absolute path directly.
      bytes[target] = slash
      yield parseRecord(fields, link, bytes.subarray(target, path))
      at = path + 1
    }
    rest = bytes.subarray(at)
  }
  if (rest.length > 0) throw new Error('an answer of `cell` ended in the middle of a record')
}

function parseRecord(facts: string, target: Buffer, path: Buffer): LayerEntry | null {
  const [layer, kind = '', mode = '', ...numbers] = facts.split(' ')
  if (kind === '-') return null
  const type = types[kind]
  const [uid, gid, size, seconds, nanoseconds, major, minor, inode, links, opaque] = numbers
  if (type === undefined || opaque === undefined) throw new Error(`not a record: ${facts}`)
  return {
    path: bytesToText(path),
    layer: Number(layer),
    type,
    mode: Number.parseInt(mode, 8),
    uid: Number(uid),
    gid: Number(gid),
    size: Number(size),
    mtimeMs: Number(seconds) * 1000 + Number(nanoseconds) / 1e6,
    device: kind === 'c' || kind === 'b' ? `${major}:${minor}` : '',
    inode: inode ?? '',
    links: Number(links),
    opaque: opaque === '1',
    target: target.length === 0 ? '' : bytesToText(target),
  }
}

/** The entry as it appears inside. */
export function toFileEntry(entry: LayerEntry, layer: Layer, ids: IdRange): ChangedFile {
  if (entry.type === 'whiteout') throw new TypeError(`${entry.path} is a whiteout`)
  const inside = (id: number): number => {
    const shifted = layer.ids === 'cell' ? id - ids.base : id
    return shifted >= 0 && shifted < ids.count ? shifted : overflowId
  }
  const isDevice = entry.type === 'character-device' || entry.type === 'block-device'
  return {
    type: entry.type,
    mode: entry.mode,
    uid: inside(entry.uid),
    gid: inside(entry.gid),
    // The size of a directory depends on the file system, and differs from layer to layer.
    sizeBytes: entry.type === 'file' || entry.type === 'symlink' ? entry.size : 0,
    mtimeMs: entry.mtimeMs,
    ...(entry.type === 'symlink' && { target: entry.target }),
    ...(isDevice && { device: entry.device }),
  }
}
