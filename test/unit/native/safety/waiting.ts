import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

/** A process of the host that says it is ready, and waits. */
export class Waiting implements AsyncDisposable {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(program: string, words: string[], variables = {}): Promise<Waiting> {
    const env = { ...process.env, NODE_OPTIONS: '', ...variables }
    const child = spawn(program, words, { env, stdio: ['pipe', 'pipe', 'inherit'] })
    const waiting = new Waiting(child)
    if (child.stdout) await once(child.stdout, 'data')
    return waiting
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }
}
