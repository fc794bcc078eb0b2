import { readFileSync, truncateSync, writeFileSync } from 'node:fs'

/** Maps its arguments as code, says so, and waits. */
export const mapper = `
  #include <fcntl.h>
  #include <sys/mman.h>
  #include <unistd.h>
  int main(int n, char **files) {
    for (int i = 1; i < n; i++) {
      int file = open(files[i], O_RDONLY);
      if (mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED) return 1;
      close(file);
    }
    write(1, "ready", 5);
    return read(0, &n, 1);
  }`

/** A library of `size` bytes, most of them a hole, that says that all of it has to be searched. */
export function sparseLibrary(path: string, size: number, segments = 1): void {
  const bytes = Buffer.alloc(64 + 56 * segments)
  bytes.writeUInt32BE(0x7f454c46)
  bytes.set([2, 1, 1], 4)
  bytes.writeUInt16LE(3, 16)
  bytes.writeUInt16LE(62, 18)
  bytes.writeBigUInt64LE(64n, 32)
  bytes.writeUInt16LE(56, 54)
  bytes.writeUInt16LE(segments, 56)
  // A dynamic one, with a name that is known to be searched for strings.
  for (let at = 64; at < bytes.length; at += 56) {
    bytes.writeUInt32LE(1, at)
    bytes.writeUInt32LE(4, at + 4)
    bytes.writeBigUInt64LE(BigInt(size), at + 32)
  }
  writeFileSync(path, bytes)
  truncateSync(path, size)
}

/** Bytes that this process has read so far. */
export function bytesRead(): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])
}
