const blockBytes = 512

export interface TarFile {
  /** at most 99 bytes */
  readonly name: string
  readonly mode: number
  readonly content: Buffer
}

/** A tar archive (ustar) of a few files that belong to root. */
export function tarOf(files: readonly TarFile[]): Buffer {
  const end = Buffer.alloc(2 * blockBytes)
  return Buffer.concat([...files.flatMap((file) => [headerOf(file), padded(file.content)]), end])
}

function headerOf({ name, mode, content }: TarFile): Buffer {
  const header = Buffer.alloc(blockBytes)
  header.write(name, 0)
  octal(header, 100, 8, mode)
  octal(header, 108, 8, 0)
  octal(header, 116, 8, 0)
  octal(header, 124, 12, content.length)
  octal(header, 136, 12, Math.floor(Date.now() / 1000))
  // The checksum counts its own field as spaces.
  header.fill(' ', 148, 156)
  header.write('0', 156)
  header.write('ustar\u000000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  octal(header, 148, 7, sum)
  return header
}

function octal(header: Buffer, at: number, width: number, value: number): void {
  header.write(`${value.toString(8).padStart(width - 1, '0')}\0`, at)
}

function padded(content: Buffer): Buffer {
  return Buffer.concat([content, Buffer.alloc(-content.length & (blockBytes - 1))])
}
