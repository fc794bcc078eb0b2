import type { Header } from 'tar-stream'
import { malformed } from './malformed.ts'

/** An entry from tar-stream. If it does not know the type, the type is null, contrary to its declaration. */
export interface TarEntry extends AsyncIterable<unknown> {
  readonly header: Header
}

export async function* bytesOf(entry: TarEntry): AsyncGenerator<Buffer> {
  for await (const chunk of entry) {
    if (!(chunk instanceof Uint8Array)) throw malformed('its content is not bytes')
    yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  }
}
