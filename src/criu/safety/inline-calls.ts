import type { Range, ReadRange } from './elf.ts'
import { chunksOf } from './scan.ts'

interface Pattern {
  readonly name: string
  /** the instruction that loads the call's number */
  readonly load: Buffer
  /** the instruction that enters the kernel */
  readonly enter: Buffer
}

const syscall = Buffer.from([0x0f, 0x05])
const svc = Buffer.from([0x01, 0x00, 0x00, 0xd4])

const patterns: readonly Pattern[] = [
  { name: 'madvise', load: Buffer.from([0xb8, 28, 0, 0, 0]), enter: syscall },
  { name: 'mremap', load: Buffer.from([0xb8, 25, 0, 0, 0]), enter: syscall },
  // mov x8, #233 and #216, and the same to w8, on aarch64.
  { name: 'madvise', load: Buffer.from([0x28, 0x1d, 0x80, 0xd2]), enter: svc },
  { name: 'madvise', load: Buffer.from([0x28, 0x1d, 0x80, 0x52]), enter: svc },
  { name: 'mremap', load: Buffer.from([0x08, 0x1b, 0x80, 0xd2]), enter: svc },
  { name: 'mremap', load: Buffer.from([0x08, 0x1b, 0x80, 0x52]), enter: svc },
]

/** How far apart the two instructions may be: a few others in between load arguments. */
const reach = 48

/**
 * The name of a call that the code makes without the C library, as Zig, Rust's rustix and hand-written
 * assembly do. A false alarm only costs a copy.
 */
export async function findInlineCall(
  code: readonly Range[],
  read: ReadRange,
): Promise<string | null> {
  for await (const chunk of chunksOf(code, read, reach + 8)) {
    const match = patterns.find((pattern) => occurs(pattern, chunk))
    if (match) return match.name
  }
  return null
}

function occurs({ load, enter }: Pattern, chunk: Buffer): boolean {
  for (let at = chunk.indexOf(load); at !== -1; at = chunk.indexOf(load, at + 1)) {
    const after = at + load.length
    if (chunk.subarray(after, after + reach).includes(enter)) return true
  }
  return false
}
