import { bytesToText } from '../../../../../../agent/files/byte-text.ts'

/**
 * What `btrfs send` writes, in version 1. All numbers are little-endian.
 *
 *   stream    "btrfs-stream\0", u32 version, command…
 *   command   u32 length of the attributes, u16 kind, u32 checksum, attribute…
 *   attribute u16 type, u16 length, content
 */
const magic = Buffer.from('btrfs-stream\0', 'latin1')
const headerLength = magic.length + 4
const version = 1
const commandHeader = 10
const attributeHeader = 4
/** The kernel's own bound. */
const longestCommand = 64 * 1024

/** The commands that say where something changed; those without a name here have no path that matters. */
export const commands = {
  subvolume: 1,
  snapshot: 2,
  rename: 9,
  link: 10,
  unlink: 11,
  rmdir: 12,
  end: 21,
} as const

const firstMaking = 3
const lastMaking = 8

const attributes = { path: 15, pathTo: 16 }

export interface Command {
  readonly kind: 'make' | 'rename' | 'remove' | 'touch'
  /** from the root of the subvolume */
  readonly path: string
  /** where it goes; empty unless it is renamed */
  readonly to: string
}

/** More is not worth reading: then as much has changed as a scan would find. */
const mostBytes = 16 * 1024 ** 2

/** The commands of a stream. Fails if it is not complete. */
export async function* parseStream(chunks: AsyncIterable<Buffer>): AsyncGenerator<Command> {
  let rest: Buffer = Buffer.alloc(0)
  let total = 0
  let began = false
  for await (const chunk of chunks) {
    total += chunk.length
    if (total > mostBytes) throw new Error('the comparison of two snapshots is too long')
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    if (!began) {
      if (rest.length < headerLength) continue
      requireHeader(rest)
      rest = rest.subarray(headerLength)
      began = true
    }
    for (;;) {
      const length = lengthOf(rest)
      if (length === null || rest.length < length) break
      const kind = rest.readUInt16LE(4)
      if (kind === commands.end) return
      const command = parseCommand(kind, rest.subarray(commandHeader, length))
      if (command) yield command
      rest = rest.subarray(length)
    }
  }
  throw new Error('the comparison of two snapshots ended early')
}

function requireHeader(bytes: Buffer): void {
  const isKnown = bytes.subarray(0, magic.length).equals(magic)
  if (isKnown && bytes.readUInt32LE(magic.length) === version) return
  throw new Error('the comparison of two snapshots has an unknown format')
}

/** The length of the first command with its header, null if that is not there yet. */
function lengthOf(bytes: Buffer): number | null {
  if (bytes.length < commandHeader) return null
  const length = bytes.readUInt32LE(0)
  if (length > longestCommand) throw new Error(`a command of ${length} bytes is too long`)
  return commandHeader + length
}

function parseCommand(kind: number, bytes: Buffer): Command | null {
  if (kind === commands.subvolume || kind === commands.snapshot) return null
  let path: string | null = null
  let to: string | null = null
  for (let at = 0; at < bytes.length; ) {
    if (bytes.length - at < attributeHeader) throw new Error('an attribute has no length')
    const type = bytes.readUInt16LE(at)
    const length = bytes.readUInt16LE(at + 2)
    at += attributeHeader
    if (length > bytes.length - at) throw new Error(`an attribute of ${length} bytes is cut off`)
    if (type === attributes.path) path = bytesToText(bytes.subarray(at, at + length))
    if (type === attributes.pathTo) to = bytesToText(bytes.subarray(at, at + length))
    at += length
  }
  if (path === null) throw new Error(`command ${kind} has no path`)
  if (kind === commands.rename) {
    if (to === null) throw new Error('a rename has no destination')
    return { kind: 'rename', path, to }
  }
  return { kind: kindOf(kind), path, to: '' }
}

function kindOf(kind: number): 'make' | 'remove' | 'touch' {
  if (kind === commands.unlink || kind === commands.rmdir) return 'remove'
  const makes = (kind >= firstMaking && kind <= lastMaking) || kind === commands.link
  return makes ? 'make' : 'touch'
}
