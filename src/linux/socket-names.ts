import { readFileSync } from 'node:fs'
import { isIPv4 } from 'node:net'
import { quote } from '../model/text/quote.ts'

/** What a socket in the network of a process listens on, in words; null if it is not there. */
export function socketName(pid: number, inode: number): string | null {
  return unixName(pid, inode) ?? tcpName(pid, inode)
}

/** "ffff…: refs protocol flags type state inode path". Whoever binds it chooses the path. */
function unixName(pid: number, inode: number): string | null {
  for (const line of linesOf(pid, 'unix')) {
    const [, number, path] = /^\S+ \S+ \S+ \S+ \S+ \S+\s+(\d+) ?(.*)$/.exec(line) ?? []
    if (Number(number) === inode && path) return `the Unix socket ${quote(path)}`
  }
  return null
}

/** "sl: address:port …", both in hexadecimal, and the inode in the tenth column. */
function tcpName(pid: number, inode: number): string | null {
  for (const line of [...linesOf(pid, 'tcp'), ...linesOf(pid, 'tcp6')]) {
    const columns = line.trim().split(/\s+/)
    const [address = '', port = ''] = columns[1]?.split(':') ?? []
    if (Number(columns[9]) !== inode) continue
    const host = ipv4Of(address)
    return host === null ? `port ${parseInt(port, 16)}` : `${host}:${parseInt(port, 16)}`
  }
  return null
}

/** A word in the byte order of the machine. */
function ipv4Of(hex: string): string | null {
  const text = (hex.match(/../g) ?? [])
    .map((byte) => parseInt(byte, 16))
    .toReversed()
    .join('.')
  return isIPv4(text) ? text : null
}

function linesOf(pid: number, table: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/net/${table}`, 'utf8').split('\n').slice(1)
  } catch {
    // The process has ended, or the kernel has no such table.
    return []
  }
}
