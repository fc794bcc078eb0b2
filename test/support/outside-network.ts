import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { whyNot } from './probe.ts'

// Answers every connection with the address that it sees as the other end.
const server = `
import socket
s = socket.create_server(('0.0.0.0', 7000))
print('listening', flush=True)
while True:
    c, peer = s.accept()
    c.sendall(peer[0].encode())
    c.close()
`

/** Why this machine cannot have one; null if it can. */
export const whyNoNetworks = whyNot('nft', 'list', 'tables') ?? whyNot('ip', 'netns', 'list')

/** A computer beyond the host: a network namespace that has a link to it, and a server. */
export class OutsideNetwork implements AsyncDisposable {
  /** of the server */
  readonly address: string
  readonly port = 7000
  /** of the host, on the link to it */
  readonly hostAddress: string
  readonly namespace: string
  #server: ChildProcess | undefined

  private constructor() {
    const unique = randomInt(1, 0xffff)
    this.namespace = `fptest-${unique}`
    // Two addresses of a documentation network, which nothing real uses.
    const base = randomInt(0, 63) * 4
    this.hostAddress = `203.0.113.${base + 1}`
    this.address = `203.0.113.${base + 2}`
    const [near, far] = [`ft${unique}n`, `ft${unique}f`]
    ip('netns', 'add', this.namespace)
    ip('link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', this.namespace)
    ip('addr', 'add', `${this.hostAddress}/30`, 'dev', near)
    ip('link', 'set', near, 'up')
    this.#inside('ip', 'addr', 'add', `${this.address}/30`, 'dev', far)
    this.#inside('ip', 'link', 'set', far, 'up')
    this.#inside('ip', 'link', 'set', 'lo', 'up')
    // So that it could answer an environment even without address translation.
    this.#inside('ip', 'route', 'add', 'default', 'via', this.hostAddress)
  }

  static async start(): Promise<OutsideNetwork> {
    const network = new OutsideNetwork()
    await network.#serve()
    return network
  }

  /** Gives that computer another address, as if it were another one. */
  alsoAt(address: string): void {
    this.#inside('ip', 'addr', 'add', `${address}/32`, 'dev', 'lo')
    ip('route', 'add', `${address}/32`, 'via', this.address)
  }

  /** Runs a Python program on that computer. */
  python(program: string): ChildProcess {
    const words = ['netns', 'exec', this.namespace, '/usr/bin/python3', '-c', program]
    return spawn('ip', words, { stdio: ['ignore', 'pipe', 'inherit'] })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#server
    if (child?.kill('SIGKILL')) await once(child, 'exit')
    ip('netns', 'delete', this.namespace)
  }

  async #serve(): Promise<void> {
    this.#server = this.python(server)
    if (this.#server.stdout) await once(this.#server.stdout, 'data')
  }

  #inside(...words: string[]): void {
    ip('netns', 'exec', this.namespace, ...words)
  }
}

function ip(...words: string[]): void {
  execFileSync('ip', words, { stdio: 'pipe' })
}
