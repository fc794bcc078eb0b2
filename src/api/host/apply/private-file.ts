import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { quote } from '../../../model/text/quote.ts'

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

/** Opens a file that only this user can have written; null if it does not exist. */
export async function openPrivate(path: string, mostBytes: number): Promise<FileHandle | null> {
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    },
  )
  if (file === null) return null
  try {
    const info = await file.stat()
    if (!info.isFile()) throw new Error('it is not a regular file')
    if (info.uid !== process.geteuid?.() || (info.mode & 0o022) !== 0) {
      throw new Error('somebody else can write to it')
    }
    if (info.size > mostBytes) throw new Error(`it is too large, with ${info.size} bytes`)
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

export type Fields = Readonly<Record<string, unknown>>

export function fieldsOf(value: unknown): Fields {
  if (typeof value === 'object' && value !== null) return value as Fields
  throw new Error(`not an object: ${quote(value)}`)
}

export function text(value: unknown): string {
  if (typeof value === 'string') return value
  throw new Error(`not text: ${quote(value)}`)
}

export function number(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new Error(`not a number: ${quote(value)}`)
}
