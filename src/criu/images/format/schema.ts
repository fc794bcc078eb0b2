import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { unknownFormat } from './unknown-format.ts'

/** The JavaScript type of a field, by its protobuf type. */
interface Values {
  uint32: number
  int32: number
  sint32: number
  /** exact below 2^53, and for every page address */
  uint64: number
  sint64: number
  int64: bigint
  bool: boolean
  string: string
  /** bytes from the kernel, one per character: names need not be UTF-8 */
  name: string
  /** the bytes of another message */
  message: Uint8Array
}

type Kind = keyof Values
type Label = 'required' | 'optional' | 'repeated'
type Field = readonly [number: number, kind: Kind, label?: Label]
type Fields = Readonly<Record<string, Field>>

type Value<F extends Field> = F extends readonly [number, infer K extends Kind, 'repeated']
  ? readonly Values[K][]
  : F extends readonly [number, infer K extends Kind, 'optional']
    ? Values[K] | undefined
    : Values[F[1]]

type Contents<F extends Fields> = { readonly [Name in keyof F]: Value<F[Name]> }

/** The values of the fields we know in a message. */
export type Message<S> =
  S extends Schema<infer F> ? Contents<F> & { readonly unknownFields: number } : never

/** Fields of one of CRIU's messages; all others are kept as they are. */
export interface Schema<F extends Fields> {
  readonly fields: F
  readonly names: readonly (string | undefined)[]
  readonly blank: Readonly<Record<string, unknown>>
}

const zeros: { readonly [K in Kind]?: Values[K] } = {
  uint32: 0,
  int32: 0,
  sint32: 0,
  uint64: 0,
  sint64: 0,
  int64: 0n,
  bool: false,
  string: '',
  name: '',
}

export function schema<const F extends Fields>(fields: F): Schema<F> {
  const names: string[] = []
  const blank: Record<string, unknown> = {}
  for (const [name, [number, kind, label]] of Object.entries(fields)) {
    names[number] = name
    blank[name] = label === 'optional' || label === 'repeated' ? undefined : zeros[kind]
  }
  return { fields, names, blank: { ...blank, unknownFields: 0 } }
}

export function read<F extends Fields>(schema: Schema<F>, bytes: Uint8Array): Message<Schema<F>> {
  return readNext(schema, new BinaryReader(bytes), bytes.length)
}

/** The message that ends at byte `end`. One reader reads thousands of them. */
export function readNext<F extends Fields>(
  { fields, names, blank }: Schema<F>,
  reader: BinaryReader,
  end: number,
): Message<Schema<F>> {
  const message: Record<string, unknown> = { ...blank }
  let unknownFields = 0
  while (reader.pos < end) {
    const [number, wireType] = reader.tag()
    const name = names[number]
    const field = name === undefined ? undefined : fields[name]
    if (name === undefined || field === undefined) {
      reader.skip(wireType, number)
      unknownFields += 1
    } else if (field[2] === 'repeated') {
      message[name] ??= []
      readRepeated(reader, wireType, field[1], message[name] as unknown[])
    } else {
      message[name] = readValue(reader, wireType, field[1])
    }
  }
  message.unknownFields = unknownFields
  for (const name in fields) if (fields[name]?.[2] === 'repeated') message[name] ??= []
  return message as Message<Schema<F>>
}

/** One for all messages: it grows once, and `finish` empties it, so no message sees another. */
const writer = new BinaryWriter()

function written(write: () => void): Uint8Array {
  try {
    write()
    return writer.finish()
  } catch (error) {
    // The start of a message that failed must not become the start of the next one.
    writer.finish()
    throw error
  }
}

/** The same message with new values in some fields, and every other byte unchanged. */
export function change<F extends Fields>(
  schema: Schema<F>,
  bytes: Uint8Array,
  changes: Partial<Contents<F>>,
): Uint8Array {
  return written(() => writeChanged(schema, bytes, changes))
}

function writeChanged<F extends Fields>(
  { fields, names }: Schema<F>,
  bytes: Uint8Array,
  changes: Partial<Contents<F>>,
): void {
  const reader = new BinaryReader(bytes)
  const pending = new Set(Object.keys(changes))
  let kept = 0
  while (reader.pos < reader.len) {
    const start = reader.pos
    const [number, wireType] = reader.tag()
    reader.skip(wireType, number)
    const name = names[number]
    if (name === undefined || !Object.hasOwn(changes, name)) continue
    if (kept < start) writer.raw(bytes.subarray(kept, start))
    if (pending.delete(name)) writeField(fields[name], changes[name])
    kept = reader.pos
  }
  if (kept < reader.len) writer.raw(bytes.subarray(kept))
  for (const name of pending) writeField(fields[name], changes[name])
}

export function make<F extends Fields>(
  { fields }: Schema<F>,
  contents: Partial<Contents<F>>,
): Uint8Array {
  return written(() => {
    for (const name in fields) writeField(fields[name], contents[name])
  })
}

const delimited: ReadonlySet<Kind> = new Set(['string', 'name', 'message'] as const)

function wireTypeOf(kind: Kind): WireType {
  return delimited.has(kind) ? WireType.LengthDelimited : WireType.Varint
}

function readRepeated(reader: BinaryReader, wireType: WireType, kind: Kind, into: unknown[]): void {
  const isPacked = wireType !== wireTypeOf(kind) && wireType === WireType.LengthDelimited
  const end = isPacked ? reader.uint32() + reader.pos : reader.pos + 1
  while (reader.pos < end) into.push(readValue(reader, wireTypeOf(kind), kind))
}

function readValue(reader: BinaryReader, wireType: WireType, kind: Kind): Values[Kind] {
  if (wireType !== wireTypeOf(kind)) {
    throw unknownFormat('image', `a field at byte ${reader.pos} is of wire type ${wireType}`)
  }
  switch (kind) {
    case 'uint64':
    case 'sint64':
      return Number(reader[kind]())
    case 'int64':
      return BigInt(reader.int64())
    case 'message':
      return reader.bytes()
    case 'name':
      return Buffer.from(reader.bytes()).toString('latin1')
    default:
      return reader[kind]()
  }
}

function writeField(field: Field | undefined, value: unknown): void {
  if (field === undefined || value === undefined) return
  const [number, kind, label] = field
  for (const one of label === 'repeated' ? (value as unknown[]) : [value]) {
    writer.tag(number, wireTypeOf(kind))
    writeValue(kind, one as Values[Kind])
  }
}

function writeValue(kind: Kind, value: Values[Kind]): void {
  if (value instanceof Uint8Array) writer.bytes(value)
  else if (kind === 'name') writer.bytes(Buffer.from(String(value), 'latin1'))
  else if (typeof value === 'string') writer.string(value)
  else if (typeof value === 'boolean') writer.bool(value)
  else if (typeof value === 'bigint') writer.int64(value)
  else if (kind !== 'message' && kind !== 'string' && kind !== 'bool') writer[kind](value)
}
