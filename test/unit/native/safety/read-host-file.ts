import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { type Elf, readElf } from '../../../../src/criu/safety/elf.ts'
import { type FileVerdict, judgeFile } from '../../../../src/criu/safety/judge-file.ts'

export async function judgeAt(path: string, name = basename(path)): Promise<FileVerdict> {
  await using handle = await open(path)
  const { size } = await handle.stat()
  return await judgeFile(name, size, async ({ offset, length }) => {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, offset)
    return buffer.subarray(0, bytesRead)
  })
}

export async function elfAt(path: string): Promise<Elf> {
  await using handle = await open(path)
  const { size } = await handle.stat()
  return await readElf(size, async ({ offset, length }) => {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, offset)
    return buffer.subarray(0, bytesRead)
  })
}

export function judgeBytes(name: string, bytes: Buffer): Promise<FileVerdict> {
  return judgeFile(name, bytes.length, async ({ offset, length }) =>
    bytes.subarray(offset, offset + length),
  )
}
