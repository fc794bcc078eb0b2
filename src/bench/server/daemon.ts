import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { readOf } from '../proc.ts'

export const launcher = join(import.meta.dirname, '../../../forkpoint')

/** A daemon in a process of its own, which can be killed and started again. */
export class BenchDaemon implements AsyncDisposable {
  readonly socket: string
  readonly #home: string
  #child: ChildProcess | null = null

  constructor(home: string) {
    this.#home = home
    this.socket = join(home, 'forkpoint.sock')
  }

  /** Resolves when it serves. */
  async start(): Promise<void> {
    const env = { ...process.env, FORKPOINT_HOME: this.#home, FORKPOINT_LOG: 'error' }
    const child = spawn(launcher, ['serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    this.#child = child
    const ended = once(child, 'exit').then(() => {
      throw new Error('the daemon ended before it served')
    })
    // It prints its addresses once it listens.
    await Promise.race([once(child.stdout, 'data'), ended])
    child.stdout.resume()
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL')
  }

  /** Memory that is in use, as the kernel counts it for the process. */
  residentBytes(): number {
    const status = readOf(String(this.#child?.pid), 'status')
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) * 1024
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end('SIGTERM')
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill(signal)
    await gone
  }
}
