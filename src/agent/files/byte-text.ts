import { isUtf8 } from 'node:buffer'
import { TextDecoder } from 'node:util'

/**
 * Linux names and arguments are bytes, mostly UTF-8. Text here carries any other byte
 * 0x80–0xff as the lone surrogate U+DC80–U+DCFF (Python's "surrogateescape"), so that a
 * name with any bytes passes in and out unchanged.
 */
const ESCAPE_BASE = 0xdc00

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function bytesToText(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  // Joined at the end: a string that grows one character at a time takes 32 bytes for each.
  const parts: string[] = []
  let at = 0
  while (at < bytes.length) {
    const length = sequenceLength(bytes, at)
    if (length === 0) {
      parts.push(String.fromCharCode(ESCAPE_BASE + bytes.readUInt8(at)))
      at += 1
    } else {
      parts.push(utf8.decode(bytes.subarray(at, at + length)))
      at += length
    }
  }
  return parts.join('')
}

export function textToBytes(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text, 'utf8')
  const parts: Buffer[] = []
  let plain = ''
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    if (code >= ESCAPE_BASE + 0x80 && code <= ESCAPE_BASE + 0xff) {
      parts.push(Buffer.from(plain, 'utf8'), Buffer.of(code - ESCAPE_BASE))
      plain = ''
    } else {
      plain += character
    }
  }
  parts.push(Buffer.from(plain, 'utf8'))
  return Buffer.concat(parts)
}

/** Length of the valid UTF-8 sequence at `at`, 0 if there is none. */
function sequenceLength(bytes: Buffer, at: number): number {
  const lead = bytes.readUInt8(at)
  const length =
    lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0
  if (length === 0 || at + length > bytes.length) return 0
  return isUtf8(bytes.subarray(at, at + length)) ? length : 0
}
