import type { BigIntStats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import type { AgentStream } from '../../wire/stream.ts'
import { HOLE_BYTES } from './transfer.ts'

const READ_BYTES = 4 * HOLE_BYTES
const ZEROS = Buffer.alloc(HOLE_BYTES)

/** Sends the content of a file without the blocks of zeros in holes; returns its size. */
export async function sendContent(
  file: FileHandle,
  info: BigIntStats,
  stream: AgentStream,
  onSent: (bytes: number) => void,
): Promise<number> {
  const isSparse = info.blocks * 512n < info.size
  for (let offset = 0; ; ) {
    const buffer = Buffer.allocUnsafe(READ_BYTES)
    const { bytesRead } = await file.read(buffer, 0, READ_BYTES, offset)
    if (bytesRead === 0) return offset
    for (let at = 0; at < bytesRead; at += HOLE_BYTES) {
      const block = buffer.subarray(at, Math.min(at + HOLE_BYTES, bytesRead))
      if (isSparse && block.equals(ZEROS.subarray(0, block.length))) continue
      await stream.sendAt(offset + at, block)
      onSent(block.length)
    }
    offset += bytesRead
  }
}
