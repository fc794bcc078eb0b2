import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  ftruncateSync,
  futimesSync,
  lchownSync,
  lutimesSync,
  openSync,
  symlinkSync,
  write,
  writeSync,
} from 'node:fs'
import { promisify } from 'node:util'
import { textToBytes } from '../../../agent/files/byte-text.ts'
import type { Attributes } from './entries.ts'
import type { Run } from './sparse.ts'

/** The owner of new files: the ids from inside, these ids, or whoever makes them. */
export type NewOwner = 'keep' | 'maker' | { readonly uid: number; readonly gid: number }

/** Drops set-id bits, so that a file from inside gives nobody its owner's rights. */
const keptBits = 0o1777
/** Up to this size, another thread would cost more time than the work itself. */
const smallBytes = 65_536

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
const writeInBackground = promisify(write)

/** Makes a new file. */
export async function writeFile(
  place: Buffer,
  entry: { attributes: Attributes; sizeBytes: number; content: AsyncIterable<Run> },
  owner: NewOwner,
): Promise<void> {
  const fd = openSync(place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  try {
    let end = 0
    for await (const { offset, bytes } of entry.content) {
      if (entry.sizeBytes <= smallBytes) writeHere(fd, bytes, offset)
      else await writeAll(fd, bytes, offset)
      end = offset + bytes.length
    }
    if (end !== entry.sizeBytes) ftruncateSync(fd, entry.sizeBytes)
    giveAttributes(fd, entry.attributes, owner)
  } finally {
    closeSync(fd)
  }
}

export function makeSymlink(
  place: Buffer,
  { target, attributes }: { target: string; attributes: Attributes },
  owner: NewOwner,
): void {
  symlinkSync(textToBytes(target), place)
  const ids = idsOf(attributes, owner)
  if (ids !== null) lchownSync(place, ids.uid, ids.gid)
  const time = timeOf(attributes)
  lutimesSync(place, time, time)
}

export function giveAttributes(fd: number, attributes: Attributes, owner: NewOwner): void {
  const ids = idsOf(attributes, owner)
  if (ids !== null) fchownSync(fd, ids.uid, ids.gid)
  fchmodSync(fd, attributes.mode & keptBits)
  const time = timeOf(attributes)
  futimesSync(fd, time, time)
}

function idsOf({ uid, gid }: Attributes, owner: NewOwner) {
  if (owner === 'maker') return null
  return owner === 'keep' ? { uid, gid } : owner
}

/** As text, because Node takes a negative number to mean now. */
function timeOf({ mtimeSeconds }: Attributes): string {
  return String(mtimeSeconds)
}

function writeHere(fd: number, bytes: Buffer, offset: number): void {
  for (let at = 0; at < bytes.length; ) {
    at += writeSync(fd, bytes, at, bytes.length - at, offset + at)
  }
}

async function writeAll(fd: number, bytes: Buffer, offset: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    at += (await writeInBackground(fd, bytes, at, bytes.length - at, offset + at)).bytesWritten
  }
}
