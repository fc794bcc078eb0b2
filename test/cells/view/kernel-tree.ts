import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { bytesToText } from '../../../src/agent/files/byte-text.ts'

/** A file as the kernel shows it; `content` is a symlink's target, or a file's bytes as latin-1. */
export interface KernelEntry {
  readonly type: string
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly content: string
}

/** Everything below a directory, by path from it. */
export function readTree(root: string): Map<string, KernelEntry> {
  const found = new Map<string, KernelEntry>()
  const visit = (place: Buffer, path: Buffer) => {
    for (const name of readdirSync(place, 'buffer')) {
      const at = Buffer.concat([place, Buffer.from('/'), name])
      const below = Buffer.concat([path, Buffer.from('/'), name])
      const info = lstatSync(at)
      const content = info.isSymbolicLink()
        ? bytesToText(readlinkSync(at, 'buffer'))
        : info.isFile()
          ? readFileSync(at).toString('latin1')
          : ''
      const type = info.isSymbolicLink() ? 'symlink' : info.isDirectory() ? 'directory' : 'file'
      const { uid, gid } = info
      found.set(bytesToText(below), { type, mode: info.mode & 0o7777, uid, gid, content })
      if (info.isDirectory()) visit(at, below)
    }
  }
  visit(Buffer.from(root), Buffer.alloc(0))
  return found
}

/** `path kind` of everything that differs, found by comparing all with all. */
export function bruteChanges(
  before: ReadonlyMap<string, KernelEntry>,
  after: ReadonlyMap<string, KernelEntry>,
): string[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort()
  return paths.flatMap((path) => {
    const kind = bruteKind(before.get(path), after.get(path))
    return kind === null ? [] : [`${path} ${kind}`]
  })
}

function bruteKind(old: KernelEntry | undefined, now: KernelEntry | undefined): string | null {
  if (!old) return 'added'
  if (!now) return 'deleted'
  if (old.type !== now.type) return 'type'
  if (old.content !== now.content) return 'modified'
  if (old.mode !== now.mode) return 'mode'
  return old.uid !== now.uid || old.gid !== now.gid ? 'owner' : null
}
