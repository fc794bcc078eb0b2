import { textToBytes } from '../../../../agent/files/byte-text.ts'
import { isPrintable } from '../../../../model/text/printable.ts'

const shortEscapes: Readonly<Record<number, string>> = {
  9: '\\t',
  10: '\\n',
  13: '\\r',
  34: '\\"',
  92: '\\\\',
}

/** A path as git writes it in a patch: quoted as in C if it would be misread otherwise. */
export function patchName(side: 'a' | 'b' | '', path: string): string {
  const name = side === '' ? path.slice(1) : side + path
  if (name.isWellFormed() && isPrintable(name) && !/["\\]/.test(name)) return name
  const escaped = Array.from(textToBytes(name), (byte) => {
    if (shortEscapes[byte]) return shortEscapes[byte]
    const isPlain = byte >= 0x20 && byte < 0x7f
    return isPlain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`
  })
  return `"${escaped.join('')}"`
}
