// A computer beyond the host, as those on the internet are for environments with `nat`.
import { type ChildProcess, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { OutsideNetwork } from '../../support/outside-network.ts'
import { LineReader } from './line-reader.ts'

const watching = `
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, 253)
print('watching', flush=True)
while True: print(s.recvfrom(2000)[1][0], flush=True)
`

const sending = `
import socket, struct, sys
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
sender, to = sys.argv[1:]
ip = struct.pack('!BBHHHBBH4s4s', 0x45, 0, 24, 1, 0, 64, 253, 0, socket.inet_aton(sender), socket.inet_aton(to))
s.sendto(ip + b'sent', (to, 0))
`

/** With an address where clouds keep their secrets, and a look at what arrives. */
export class FarNetwork implements AsyncDisposable {
  readonly outside: OutsideNetwork
  readonly linkLocalAddress = '169.254.77.2'
  readonly #watch: ChildProcess
  readonly #seen: LineReader

  private constructor(outside: OutsideNetwork) {
    this.outside = outside
    addLinkLocal(outside)
    this.#watch = outside.python(watching)
    if (this.#watch.stdout === null) throw new Error('no output')
    this.#seen = new LineReader(this.#watch.stdout)
  }

  static async start(): Promise<FarNetwork> {
    const far = new FarNetwork(await OutsideNetwork.start())
    await far.#seen.until('watching')
    return far
  }

  /** The senders of all packets that arrived before one that is sent now. */
  async senders(): Promise<string[]> {
    this.send('203.0.113.255')
    return this.#seen.until('203.0.113.255')
  }

  /** A packet from the host, with the address of `sender`. */
  send(sender: string): void {
    execFileSync('/usr/bin/python3', ['-c', sending, sender, this.outside.address])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#watch.kill('SIGKILL')) await once(this.#watch, 'exit')
    await this.outside[Symbol.asyncDispose]()
  }
}

function addLinkLocal({ hostAddress, namespace }: OutsideNetwork): void {
  const find = ['-o', '-4', 'addr', 'show', 'to', hostAddress]
  const [, near = ''] = execFileSync('ip', find, { encoding: 'utf8' }).split(/\s+/)
  const far = near.replace(/n$/, 'f')
  execFileSync('ip', ['addr', 'add', '169.254.77.1/30', 'dev', near])
  execFileSync('ip', ['-n', namespace, 'addr', 'add', '169.254.77.2/30', 'dev', far])
}

/** Entries of the host's table. */
export function trackedConnections(): number {
  return Number(readFileSync('/proc/sys/net/netfilter/nf_conntrack_count', 'utf8'))
}
