import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Forkpoint } from '../../../src/index.ts'
import { CliHome } from '../../e2e/cli/cli-home.ts'

/** A real daemon in a process of its own, which can be killed and started again. */
export class DaemonProcess implements AsyncDisposable {
  readonly cli = new CliHome()
  readonly #clients: Forkpoint[] = []
  #child: ChildProcess | null = null

  get socket(): string {
    return join(this.cli.home.path, 'forkpoint.sock')
  }

  /** Resolves when it serves. */
  async start(env: Readonly<Record<string, string>> = {}, ...args: string[]): Promise<string[]> {
    const child = this.cli.start(['serve', '--json', ...args], { env })
    this.#child = child
    const { stdout, stderr } = child
    if (stdout === null || stderr === null) throw new Error('the daemon has no output')
    const said: string[] = []
    createInterface({ input: stderr }).on('line', (line) => said.push(line))
    let document = ''
    for await (const line of createInterface({ input: stdout })) {
      document += line
      // The document of `--json` is printed over several lines, and the last one is its end.
      if (line === '}') return JSON.parse(document).addresses
    }
    throw new Error(`the daemon did not start: ${said.join('\n')}`)
  }

  /** Kills it as hard as possible. */
  async kill(): Promise<void> {
    const child = this.#child
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }

  /** Asks it to end. */
  terminate(): void {
    this.#child?.kill('SIGTERM')
  }

  /** Resolves when it has ended by itself. */
  async ended(): Promise<void> {
    const child = this.#child
    if (child && child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }

  async connect(): Promise<Forkpoint> {
    const fp = await Forkpoint.connect({ socket: this.socket })
    this.#clients.push(fp)
    return fp
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#clients.map((fp) => fp.close()))
    await this.kill()
    await this.cli[Symbol.asyncDispose]()
  }
}
