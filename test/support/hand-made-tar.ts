// Hand-made archives that no honest engine would make.
import { Readable } from 'node:stream'

export interface HandMade {
  readonly name: string
  /** flag of its type; default `0`, a file */
  readonly type?: string
  readonly target?: string
  readonly mode?: number
  readonly uid?: number
  readonly content?: Buffer | string
  /** what the header says instead of the length of the content */
  readonly size?: number
  readonly records?: Readonly<Record<string, string>>
}

const block = 512

function padded(bytes: Buffer): Buffer {
  const rest = bytes.length % block
  return rest === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(block - rest)])
}

function octal(value: number, width: number): string {
  return value.toString(8).padStart(width - 1, '0')
}

/** In octal, or in binary if that is too long. */
function number(header: Buffer, value: number, at: number, width: number): void {
  if (value < 8 ** (width - 1)) {
    header.write(octal(value, width), at)
    return
  }
  header.writeUInt8(0x80, at)
  header.writeUIntBE(value, at + width - 6, 6)
}

export function header(entry: HandMade, length: number): Buffer {
  const made = Buffer.alloc(block)
  made.write(entry.name.slice(0, 100), 0, 'latin1')
  made.write(octal(entry.mode ?? 0o644, 8), 100)
  number(made, entry.uid ?? 0, 108, 8)
  made.write(octal(0, 8), 116)
  number(made, entry.size ?? length, 124, 12)
  made.write(octal(1_700_000_000, 12), 136)
  made.write(entry.type ?? '0', 156)
  made.write((entry.target ?? '').slice(0, 100), 157, 'latin1')
  made.write('ustar\x0000', 257, 'latin1')
  made.fill(' ', 148, 156)
  made.write(
    `${octal(
      made.reduce((sum, byte) => sum + byte, 0),
      7,
    )}\0 `,
    148,
  )
  return made
}

export function entry(given: HandMade): Buffer {
  const content = Buffer.from(given.content ?? '')
  const parts = [header(given, content.length), padded(content)]
  if (given.name.length > 100) {
    const name = Buffer.from(`${given.name}\0`, 'latin1')
    parts.unshift(header({ name: '././@LongLink', type: 'L' }, name.length), padded(name))
  }
  if (given.records) parts.unshift(recordsOf(given.records))
  return Buffer.concat(parts)
}

function recordsOf(records: Readonly<Record<string, string>>): Buffer {
  const lines = Object.entries(records).map(([key, value]) => {
    const rest = ` ${key}=${value}\n`
    const digits = String(rest.length + String(rest.length + 3).length).length
    return `${rest.length + digits}${rest}`
  })
  const bytes = Buffer.from(lines.join(''), 'latin1')
  return Buffer.concat([header({ name: 'records', type: 'x' }, bytes.length), padded(bytes)])
}

/** The last entry of a whole archive. */
export function report(entries: number, bytes: number, leftOut: readonly string[] = []): Buffer {
  const content = Buffer.from(
    [`${entries} ${bytes}`, ...leftOut].map((each) => `${each}\0`).join(''),
  )
  return entry({ name: '.forkpoint-report', type: 'R', content })
}

const end = Buffer.alloc(2 * block)

/** A whole archive, with the report that fits it. */
export function archiveOf(...entries: readonly HandMade[]): Buffer {
  const bytes = entries.reduce((sum, each) => sum + sizeOf(each), 0)
  return Buffer.concat([...entries.map(entry), report(entries.length, bytes), end])
}

function sizeOf({ type = '0', content = '', records }: HandMade): number {
  if (type !== '0') return 0
  return Number(records?.['GNU.sparse.realsize'] ?? Buffer.from(content).length)
}

/** In pieces of odd sizes, as a network might deliver them. */
export function streamed(bytes: Buffer, pieceBytes = 777): Readable {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    pieces.push(bytes.subarray(at, at + pieceBytes))
  }
  return Readable.from(pieces, { objectMode: false })
}
