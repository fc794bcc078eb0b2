import { controlDraws, csiDraws, escapeDraws, oscDraws } from './drawing.ts'

/** Longer than any sequence that draws; a longer one is dropped. */
const MAX_HELD = 4096

const ESC = 0x1b
const BEL = 0x07
const CAN = 0x18
const SUB = 0x1a
const DEL = 0x7f
/** The 8-bit forms of ESC P, ESC [, ESC ], ESC X, ESC ^, ESC _ and ESC \. */
const C1 = { dcs: 0x90, csi: 0x9b, st: 0x9c, osc: 0x9d, sos: 0x98, pm: 0x9e, apc: 0x9f } as const

type State =
  /** Text. */
  | 'ground'
  /** After ESC. */
  | 'escape'
  | 'csi'
  /** Only some of these draw; they end at ST or BEL. */
  | 'osc'
  /** DCS, SOS, PM, APC: all are dropped. */
  | 'string'

/**
 * Passes what draws on a terminal and drops everything else. A replay is old output: its queries were
 * answered long ago, and must not be repeated. Neither must clipboard writes and bells. The output is
 * UTF-8; any other byte becomes what a terminal shows for it.
 */
export class ReplayFilter {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  /** The beginning of a character whose other bytes have not arrived yet. */
  #begun = Buffer.alloc(0)
  #state: State = 'ground'
  /** The sequence so far, without its introducer; null once it is too long to pass. */
  #held: string | null = ''
  /** Inside a string: the last character was ESC, which may be the first half of ST. */
  #sawEscape = false

  /** True if no sequence or character is incomplete, so that what follows no longer belongs to the replay. */
  get isBetweenSequences(): boolean {
    return this.#state === 'ground' && this.#begun.length === 0
  }

  push(chunk: Buffer): Buffer {
    const bytes = Buffer.concat([this.#begun, chunk])
    const whole = bytes.length - begunBytes(bytes)
    this.#begun = bytes.subarray(whole)
    let drawn = ''
    for (const character of this.#decoder.decode(bytes.subarray(0, whole))) {
      drawn += this.#next(character)
    }
    return Buffer.from(drawn)
  }

  /** What passes with `character`: nothing, itself, or a sequence that it completes. */
  #next(character: string): string {
    const code = character.codePointAt(0) ?? 0
    if (code === CAN || code === SUB) return this.#toGround('')
    switch (this.#state) {
      case 'ground':
        return this.#text(character, code)
      case 'escape':
        return this.#escape(character, code)
      case 'csi':
        return this.#csi(character, code)
      default:
        return this.#inString(character, code)
    }
  }

  #text(character: string, code: number): string {
    if (code === ESC) return this.#begin('escape')
    if (code >= 0x80 && code <= 0x9f) return this.#beginC1(code)
    return (code >= 0x20 && code !== DEL) || controlDraws(code) ? character : ''
  }

  #beginC1(code: number): string {
    if (code === C1.csi) return this.#begin('csi')
    if (code === C1.osc) return this.#begin('osc')
    const isString = code === C1.dcs || code === C1.sos || code === C1.pm || code === C1.apc
    // The others are rare; ESC and a letter express the same.
    return isString ? this.#begin('string') : ''
  }

  #escape(character: string, code: number): string {
    if (code === ESC) return this.#begin('escape')
    if (code < 0x20) return controlDraws(code) ? character : ''
    if (this.#held === '') {
      if (character === '[') return this.#begin('csi')
      if (character === ']') return this.#begin('osc')
      if ('PX^_'.includes(character)) return this.#begin('string')
    }
    this.#hold(character)
    // Intermediates are followed by one more byte.
    if (code <= 0x2f) return ''
    return this.#complete('\u001b', escapeDraws)
  }

  #csi(character: string, code: number): string {
    if (code === ESC) return this.#begin('escape')
    // A control in the middle of a sequence acts immediately, as if it came before the sequence.
    if (code < 0x20) return controlDraws(code) ? character : ''
    if (code > 0x7e) return this.#toGround('')
    this.#hold(character)
    return code >= 0x40 ? this.#complete('\u001b[', csiDraws) : ''
  }

  #inString(character: string, code: number): string {
    const isBell = code === BEL && this.#state === 'osc'
    const isTerminator = (this.#sawEscape && character === '\\') || code === C1.st
    if (isBell || isTerminator) return this.#endString()
    if (this.#sawEscape) {
      // ESC ends a string, whatever follows, and begins a new escape sequence.
      this.#begin('escape')
      return this.#escape(character, code)
    }
    if (code === ESC) this.#sawEscape = true
    else this.#hold(character)
    return ''
  }

  #endString(): string {
    const isOsc = this.#state === 'osc'
    const body = this.#held
    const draws = isOsc && body !== null && oscDraws(body)
    return this.#toGround(draws ? `\u001b]${body}\u001b\\` : '')
  }

  #complete(introducer: string, draws: (body: string) => boolean): string {
    const body = this.#held
    return this.#toGround(body !== null && draws(body) ? `${introducer}${body}` : '')
  }

  #begin(state: State): string {
    this.#state = state
    this.#held = ''
    this.#sawEscape = false
    return ''
  }

  #toGround(out: string): string {
    this.#begin('ground')
    return out
  }

  #hold(character: string): void {
    if (this.#held === null) return
    this.#held = this.#held.length < MAX_HELD ? this.#held + character : null
  }
}

/** Length of an incomplete UTF-8 character at the end. */
function begunBytes(bytes: Buffer): number {
  for (let count = 1; count <= 3 && count <= bytes.length; count += 1) {
    const byte = bytes.readUInt8(bytes.length - count)
    if (byte >= 0xc0) {
      const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
      return count < needed ? count : 0
    }
    if (byte < 0x80) return 0
  }
  return 0
}
