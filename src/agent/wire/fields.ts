import { InvalidInputError } from '../../model/errors.ts'
import { protocolError } from '../failures.ts'
import { bytesToText, textToBytes } from '../files/byte-text.ts'

/**
 * Fields are repeated `u16 key, u32 length, bytes`. An `int` is 8 bytes, signed, and must be
 * exact as a number; a `bigint` is the same on the wire. `bytes` may be anything. Unknown keys are ignored.
 */
const table = {
  version: [1, 'int'],
  op: [2, 'int'],
  errno: [3, 'int'],
  message: [4, 'string'],
  flags: [5, 'int'],
  maxFrame: [6, 'int'],
  window: [7, 'int'],
  maxStreams: [8, 'int'],
  maxConnections: [9, 'int'],
  id: [10, 'string'],
  modeExec: [11, 'int'],
  command: [12, 'string'],
  argv: [13, 'strings'],
  shell: [14, 'string'],
  cwd: [15, 'string'],
  env: [16, 'strings'],
  user: [17, 'string'],
  timeoutMs: [18, 'int'],
  stdin: [19, 'int'],
  graceMs: [20, 'int'],
  exitCode: [21, 'int'],
  signal: [22, 'int'],
  timedOut: [23, 'int'],
  shellGone: [24, 'int'],
  durationUs: [25, 'int'],
  stdoutOffset: [26, 'int'],
  stderrOffset: [27, 'int'],
  pid: [28, 'int'],
  running: [29, 'int'],
  path: [30, 'string'],
  target: [31, 'string'],
  mode: [32, 'int'],
  size: [33, 'int'],
  mtimeNs: [34, 'bigint'],
  uid: [35, 'int'],
  gid: [36, 'int'],
  type: [37, 'int'],
  offset: [38, 'int'],
  name: [39, 'string'],
  blocks: [40, 'int'],
  event: [41, 'int'],
  cookie: [42, 'int'],
  nlink: [43, 'int'],
  content: [44, 'bytes'],
  xattr: [45, 'strings'],
  cols: [50, 'int'],
  rows: [51, 'int'],
  replayBytes: [52, 'int'],
  drawnCols: [53, 'int'],
  drawnRows: [54, 'int'],
  host: [60, 'string'],
  port: [61, 'int'],
  hostname: [70, 'string'],
  machineId: [71, 'string'],
  rssBytes: [72, 'int'],
  openFds: [73, 'int'],
  commands: [74, 'int'],
  connections: [75, 'int'],
  features: [76, 'int'],
  startedMs: [77, 'int'],
  endedMs: [78, 'int'],
} as const satisfies Record<string, readonly [key: number, kind: FieldKind]>

interface KindTypes {
  int: number
  bigint: bigint
  string: string
  strings: readonly string[]
  bytes: Buffer
}
type FieldKind = keyof KindTypes
export type FieldName = keyof typeof table
type FieldValue<N extends FieldName> = KindTypes[(typeof table)[N][1]]

export type Fields = { readonly [N in FieldName]?: FieldValue<N> | undefined }
type DecodedFields = { [N in FieldName]?: KindTypes[FieldKind] }

const PREFIX_BYTES = 6
const INT_BYTES = 8

const byName = new Map<string, readonly [number, FieldKind]>(Object.entries(table))
const byKey = new Map<number, { name: FieldName; kind: FieldKind }>(
  Object.entries(table).map(([name, [key, kind]]) => [key, { name: name as FieldName, kind }]),
)

/** Encodes the fields that are set; `undefined` ones are left out. */
export function encodeFields(fields: Fields): Buffer {
  const parts: Buffer[] = []
  for (const [name, value] of Object.entries(fields)) {
    const entry = byName.get(name)
    if (value === undefined || entry === undefined) continue
    const [key] = entry
    for (const bytes of valueBytes(name, value)) {
      const prefix = Buffer.allocUnsafe(PREFIX_BYTES)
      prefix.writeUInt16LE(key, 0)
      prefix.writeUInt32LE(bytes.length, 2)
      parts.push(prefix, bytes)
    }
  }
  return Buffer.concat(parts)
}

function* valueBytes(name: string, value: KindTypes[FieldKind]): Generator<Buffer> {
  if (typeof value === 'number' || typeof value === 'bigint') yield intBytes(name, value)
  else if (typeof value === 'string') yield stringBytes(name, value)
  else if (Buffer.isBuffer(value)) yield value
  else for (const item of value) yield stringBytes(name, item)
}

function intBytes(name: string, value: number | bigint): Buffer {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new InvalidInputError(`${name} must be a whole number, not ${value}`, {
      remedy: 'round it',
    })
  }
  const bytes = Buffer.allocUnsafe(INT_BYTES)
  try {
    bytes.writeBigInt64LE(BigInt(value))
  } catch (cause) {
    throw new InvalidInputError(`${name} is out of range: ${value}`, {
      remedy: 'give a smaller number',
      cause,
    })
  }
  return bytes
}

function stringBytes(name: string, value: string): Buffer {
  if (value.includes('\0')) {
    throw new InvalidInputError(`${name} contains a NUL character`, { remedy: 'leave it out' })
  }
  return textToBytes(value)
}

/** Decodes fields written by hostile code: anything malformed is a protocol error. */
export function decodeFields(bytes: Buffer): Fields {
  const fields: DecodedFields = {}
  let at = 0
  while (at < bytes.length) {
    if (bytes.length - at < PREFIX_BYTES) throw protocolError('a field is cut off')
    const key = bytes.readUInt16LE(at)
    const length = bytes.readUInt32LE(at + 2)
    at += PREFIX_BYTES
    if (length > bytes.length - at) throw protocolError(`field ${key} claims ${length} bytes`)
    const known = byKey.get(key)
    if (known !== undefined) store(fields, known, bytes.subarray(at, at + length))
    at += length
  }
  return fields as Fields
}

function store(
  fields: DecodedFields,
  field: { name: FieldName; kind: FieldKind },
  bytes: Buffer,
): void {
  const { name, kind } = field
  const before = fields[name]
  if (kind === 'strings') {
    // Appended in place: copying the list for each item would be quadratic for hostile input.
    if (Array.isArray(before)) before.push(readString(name, bytes))
    else fields[name] = [readString(name, bytes)]
    return
  }
  if (before !== undefined) throw protocolError(`field ${name} occurs twice`)
  if (kind === 'bytes') fields[name] = bytes
  else fields[name] = kind === 'string' ? readString(name, bytes) : readInt(name, kind, bytes)
}

function readString(name: FieldName, bytes: Buffer): string {
  if (bytes.includes(0)) throw protocolError(`field ${name} contains a NUL character`)
  return bytesToText(bytes)
}

function readInt(name: FieldName, kind: 'int' | 'bigint', bytes: Buffer): number | bigint {
  if (bytes.length !== INT_BYTES) throw protocolError(`field ${name} has ${bytes.length} bytes`)
  const value = bytes.readBigInt64LE()
  if (kind === 'bigint') return value
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw protocolError(`field ${name} is out of range`)
  return number
}

/** The value of a field that an answer must have. */
export function need<N extends FieldName>(fields: Fields, name: N): NonNullable<Fields[N]> {
  const value = fields[name]
  if (value === undefined || value === null) throw protocolError(`field ${name} is missing`)
  return value
}
