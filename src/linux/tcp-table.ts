import { readFileSync } from 'node:fs'

/** A TCP socket of a network, as the kernel lists it. */
export interface KernelConnection {
  readonly from: { readonly address: string; readonly port: number }
  readonly to: { readonly address: string; readonly port: number }
  /** the kernel's number */
  readonly state: number
  /** bytes that the other end has not acknowledged; the end of a connection counts as one */
  readonly unsent: number
  /** bytes that the program has not read */
  readonly received: number
  /** 0: no process has it open */
  readonly inode: number
}

/** Those of the network that a process is in. The kernel looks at the connections of the whole host for that. */
export function tcpTable(pid: number): KernelConnection[] {
  return ['tcp', 'tcp6'].flatMap((table) => {
    let text: string
    try {
      text = readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
    } catch {
      // The process has ended, or the kernel has no such table.
      return []
    }
    return text.split('\n').slice(1).filter(Boolean).map(parseLine)
  })
}

/** "sl: address:port address:port state unsent:received timer:when retries uid timeout inode", mostly hexadecimal. */
export function parseLine(line: string): KernelConnection {
  const [, from = '', to = '', state = '', queues = '', , , , , inode = ''] = line
    .trim()
    .split(/\s+/)
  const [unsent = '', received = ''] = queues.split(':')
  return {
    from: endpointOf(from),
    to: endpointOf(to),
    state: parseInt(state, 16),
    unsent: parseInt(unsent, 16),
    received: parseInt(received, 16),
    inode: Number(inode),
  }
}

function endpointOf(text: string): KernelConnection['from'] {
  const [address = '', port = ''] = text.split(':')
  return { address: addressOf(address), port: parseInt(port, 16) }
}

/** Words in the byte order of the machine, each with its octets from the last to the first. */
function addressOf(hex: string): string {
  const octets = (hex.match(/.{8}/g) ?? []).flatMap((word) =>
    (word.match(/../g) ?? []).map((byte) => parseInt(byte, 16)).toReversed(),
  )
  const isMapped = octets.length === 16 && octets.slice(0, 10).every((octet) => octet === 0)
  if (isMapped && octets[10] === 0xff && octets[11] === 0xff) return octets.slice(12).join('.')
  if (octets.length === 4) return octets.join('.')
  return Array.from({ length: 8 }, (_, at) =>
    (((octets[2 * at] ?? 0) << 8) | (octets[2 * at + 1] ?? 0)).toString(16),
  ).join(':')
}
