import { type BigIntStats, lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { posix } from 'node:path'
import * as z from 'zod/mini'
import { bytesToText, textToBytes } from '../../../agent/files/byte-text.ts'
import { longestCopyNote } from '../../../model/files/copy-note.ts'
import type { ChangedFile } from '../../../model/files/file-change.ts'
import { thisMachine } from './claim-file.ts'
import type { TargetState } from './target-directory.ts'

const entry = z.object({
  /** relative to the directory; empty: the directory itself */
  path: z.string(),
  type: z.enum(['file', 'directory', 'symlink']),
  mode: z.number(),
  sizeBytes: z.number(),
  inode: z.string(),
  mtimeNs: z.string(),
  ctimeNs: z.string(),
  /** of a symlink */
  target: z.nullable(z.string()),
})

export type CopiedEntry = z.infer<typeof entry>

/** Without the names of the fields, which would be most of it. */
const row = z.tuple([
  entry.shape.path,
  entry.shape.type,
  entry.shape.mode,
  entry.shape.sizeBytes,
  entry.shape.inode,
  entry.shape.mtimeNs,
  entry.shape.ctimeNs,
  entry.shape.target,
])

const noted = z.object({
  version: z.literal(1),
  machine: z.string(),
  /** where it was copied from */
  host: z.string(),
  rows: z.array(row),
})

/** What a directory of this machine was like when it was copied in. */
export interface CopiedTree {
  readonly host: string
  readonly entries: readonly CopiedEntry[]
}

/** Looks at a directory, without reading its files. Null if it is not one, or has too many to note. */
export function noteOf(host: string): string | null {
  const rows = rowsOf(host)
  const note = rows && JSON.stringify({ version: 1, machine: thisMachine(), host, rows })
  return note === null || note.length > longestCopyNote ? null : note
}

type Row = z.infer<typeof row>

function rowsOf(host: string): Row[] | null {
  try {
    const top = lstatSync(host, { bigint: true })
    return top.isDirectory() ? [rowOf('', host, top), ...rowsBelow(host)] : null
  } catch {
    // What cannot be looked at cannot be copied either, and the copy says why.
    return null
  }
}

function rowsBelow(host: string): Row[] {
  const rows: Row[] = []
  const waiting = ['']
  for (let dir = waiting.pop(); dir !== undefined; dir = waiting.pop()) {
    const place = textToBytes(posix.join(host, dir))
    for (const name of readdirSync(place, { encoding: 'buffer' })) {
      const path = dir === '' ? bytesToText(name) : `${dir}/${bytesToText(name)}`
      const info = lstatSync(textToBytes(posix.join(host, path)), { bigint: true })
      if (info.isDirectory()) waiting.push(path)
      else if (!info.isFile() && !info.isSymbolicLink()) continue
      rows.push(rowOf(path, host, info))
    }
  }
  return rows
}

function rowOf(path: string, host: string, info: BigIntStats): Row {
  const isLink = info.isSymbolicLink()
  return [
    path,
    isLink ? 'symlink' : info.isDirectory() ? 'directory' : 'file',
    Number(info.mode & 0o7777n),
    Number(info.size),
    String(info.ino),
    String(info.mtimeNs),
    String(info.ctimeNs),
    isLink ? bytesToText(readlinkSync(textToBytes(posix.join(host, path)), 'buffer')) : null,
  ]
}

/** Reads a note that this machine made of this directory; null if it is another's. */
export function readNote(note: string, host: string): CopiedTree | null {
  const { machine, host: from, rows } = noted.parse(JSON.parse(note))
  if (machine !== thisMachine() || from !== host) return null
  return { host, entries: rows.map(entryOf) }
}

function entryOf([path, type, mode, sizeBytes, inode, mtimeNs, ctimeNs, target]: Row): CopiedEntry {
  return { path, type, mode, sizeBytes, inode, mtimeNs, ctimeNs, target }
}

/** Whether the target still has what was copied. Whoever writes to a file changes its second time. */
export function isUntouched(copied: CopiedEntry, state: TargetState): boolean {
  return (
    state.state === 'present' &&
    state.type === copied.type &&
    state.inode === copied.inode &&
    state.sizeBytes === copied.sizeBytes &&
    String(state.mtimeNs) === copied.mtimeNs &&
    String(state.ctimeNs) === copied.ctimeNs
  )
}

/** What the copy was like inside, before anything there changed it. */
export function asInside({ type, mode, sizeBytes, mtimeNs, target }: CopiedEntry): ChangedFile {
  return {
    type,
    mode,
    uid: 0,
    gid: 0,
    sizeBytes: type === 'directory' ? 0 : sizeBytes,
    mtimeMs: Number(BigInt(mtimeNs) / 1000n) / 1000,
    ...(target !== null && { target }),
  }
}
