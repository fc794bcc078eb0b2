const ESC = 0x1b
const BEL = 0x07
const CAN = 0x18
const SUB = 0x1a

type State =
  /** Text. */
  | 'ground'
  /** After ESC. */
  | 'escape'
  | 'csi'
  /** An OSC string, which also ends at BEL. */
  | 'osc'
  /** DCS, SOS, PM or APC, which end at ST. */
  | 'string'
  /** After ESC in a string: the first half of ST, or of another sequence. */
  | 'string-escape'

/**
 * How many of the bytes come before what the next output may still change: an incomplete control sequence
 * or character at the end, or a last character that an accent may follow, or a sequence that repeats it.
 */
export function completeBytes(bytes: Buffer): number {
  let state: State = 'ground'
  let complete = 0
  for (let at = 0; at < bytes.length; ) {
    const length = characterLength(bytes, at)
    if (at + length > bytes.length) break
    const code = codeAt(bytes, at, length)
    const isText = state === 'ground' && code >= 0x20 && (code < 0x7f || code > 0x9f)
    if (isText && !joinsPrevious(code)) complete = at
    state = next(state, code)
    at += length
    if (state === 'ground' && !isText) complete = at
  }
  return complete
}

const joining = /[\p{Mark}\u200d]/u

function joinsPrevious(code: number): boolean {
  return code >= 0x300 && joining.test(String.fromCodePoint(code))
}

function next(state: State, code: number): State {
  if (code === CAN || code === SUB) return 'ground'
  switch (state) {
    case 'ground':
      return code === ESC ? 'escape' : afterC1(code)
    case 'escape':
      return afterEscape(code)
    case 'csi':
      if (code === ESC) return 'escape'
      return code >= 0x40 && code !== 0x7f ? 'ground' : 'csi'
    case 'string-escape':
      return code === 0x5c ? 'ground' : afterEscape(code)
    default:
      if (code === ESC) return 'string-escape'
      return code === 0x9c || (code === BEL && state === 'osc') ? 'ground' : state
  }
}

function afterEscape(code: number): State {
  if (code === ESC) return 'escape'
  if (code === 0x5b) return 'csi'
  if (code === 0x5d) return 'osc'
  if (code === 0x50 || code === 0x58 || code === 0x5e || code === 0x5f) return 'string'
  // Controls act in the middle of a sequence; intermediates are followed by one more byte.
  return code <= 0x2f ? 'escape' : 'ground'
}

/** The 8-bit forms of ESC [, ESC ], ESC P, ESC X, ESC ^ and ESC _. */
function afterC1(code: number): State {
  if (code === 0x9b) return 'csi'
  if (code === 0x9d) return 'osc'
  return code === 0x90 || code === 0x98 || code === 0x9e || code === 0x9f ? 'string' : 'ground'
}

/** Of the UTF-8 character at `at`, as its first byte says; 1 for a byte that begins none. */
function characterLength(bytes: Buffer, at: number): number {
  const first = bytes.readUInt8(at)
  const wanted = first < 0xc2 || first > 0xf4 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
  for (let offset = 1; offset < wanted && at + offset < bytes.length; offset += 1) {
    if ((bytes.readUInt8(at + offset) & 0xc0) !== 0x80) return offset
  }
  return wanted
}

function codeAt(bytes: Buffer, at: number, length: number): number {
  if (length === 1) {
    const byte = bytes.readUInt8(at)
    return byte < 0x80 ? byte : 0xfffd
  }
  return bytes.toString('utf8', at, at + length).codePointAt(0) ?? 0xfffd
}
