import type { Writable } from 'node:stream'
import { escapeHidden } from '../model/text/printable.ts'
import { jsonPieces } from './render/layout/json-pieces.ts'
import { styledLines } from './render/layout/text.ts'
import { write } from './write-bytes.ts'

export { isClosedPipe, write } from './write-bytes.ts'

/** The same for our own text, which may contain untrusted text. */
export function say(stream: Writable, text: string): Promise<void> {
  return write(stream, styledLines(text))
}

/** One JSON document, escaped so that nothing in it controls a terminal. */
export async function writeJson(stream: Writable, value: unknown): Promise<void> {
  for (const piece of jsonPieces(value)) await write(stream, escapeHidden(piece))
  await write(stream, '\n')
}
