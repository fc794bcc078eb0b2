/** Where the kernel lists TCP sockets; what reads it is inside, so these are the sockets there. */
export const socketTables = ['/proc/self/net/tcp', '/proc/self/net/tcp6'] as const

/** A table with a million sockets is not read to its end. */
export const longestTable = 4 * 1024 ** 2

const listening = '0A'
const line = /^\s*\d+: ([0-9A-F]+):([0-9A-F]{4}) [0-9A-F]+:[0-9A-F]{4} ([0-9A-F]{2}) /

/** The ports in tables of the kernel that a connection to 127.0.0.1 reaches, in order. */
export function listeningPorts(tables: readonly string[]): number[] {
  const ports = new Set<number>()
  for (const row of tables.flatMap((table) => table.split('\n'))) {
    const [, address = '', port = '', state] = line.exec(row) ?? []
    if (state === listening && isReached(address)) ports.add(Number.parseInt(port, 16))
  }
  return [...ports].sort((a, b) => a - b)
}

/** Every address, or one that begins with 127. Words of an address have their bytes in reverse. */
function isReached(address: string): boolean {
  const mapped = /^(?:0{16}FFFF0000)?([0-9A-F]{8})$/.exec(address)?.[1]
  return /^0+$/.test(address) || mapped?.endsWith('7F') === true
}
