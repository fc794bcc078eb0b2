import { EventEmitter } from 'node:events'
import { PassThrough, Readable, Writable } from 'node:stream'
import type { SpawnedProcess } from '@anthropic-ai/claude-agent-sdk'
import type { Command } from '../../api/handles/command.ts'

type ExitListener = (code: number | null, signal: NodeJS.Signals | null) => void
type ErrorListener = (error: Error) => void

/** A command inside, with the members of a child process that the SDK uses. It may still be starting. */
export class InsideProcess implements SpawnedProcess {
  readonly stdin: Writable
  readonly stdout: Readable
  killed = false
  exitCode: number | null = null
  signalCode: NodeJS.Signals | null = null
  readonly #events = new EventEmitter()
  readonly #command: Promise<Command>

  constructor(starting: Promise<Command>) {
    this.#command = starting
    this.stdin = writableTo(starting)
    const stdout = new PassThrough()
    this.stdout = stdout
    this.#follow(stdout).catch((error: Error) => {
      stdout.end()
      // Without a listener, an error event would end the caller's process.
      if (this.#events.listenerCount('error') > 0) this.#events.emit('error', error)
    })
  }

  kill(signal: NodeJS.Signals): boolean {
    if (this.exitCode !== null || this.signalCode !== null) return false
    this.killed = true
    // It may have ended meanwhile; then `exit` says so.
    this.#command.then((command) => command.signal(signal)).catch(() => {})
    return true
  }

  on(event: 'exit', listener: ExitListener): void
  on(event: 'error', listener: ErrorListener): void
  on(event: string, listener: ExitListener | ErrorListener): void {
    this.#events.on(event, listener)
  }

  once(event: 'exit', listener: ExitListener): void
  once(event: 'error', listener: ErrorListener): void
  once(event: string, listener: ExitListener | ErrorListener): void {
    this.#events.once(event, listener)
  }

  off(event: 'exit', listener: ExitListener): void
  off(event: 'error', listener: ErrorListener): void
  off(event: string, listener: ExitListener | ErrorListener): void {
    this.#events.off(event, listener)
  }

  async #follow(stdout: PassThrough): Promise<void> {
    const command = await this.#command
    command.stderr.discard()
    const printed = Readable.from(command.stdout, { objectMode: false })
    printed.on('error', (error) => stdout.destroy(error))
    printed.pipe(stdout)
    const { exitCode, signal } = await command.wait()
    this.exitCode = exitCode
    this.signalCode = signal
    this.#events.emit('exit', exitCode, signal)
  }
}

function writableTo(starting: Promise<Command>): Writable {
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      starting.then((command) => command.writeStdin(Buffer.from(chunk))).then(() => done(), done)
    },
    final: (done) => {
      // A program that has ended needs no end of its input.
      starting
        .then((command) => command.endStdin())
        .then(
          () => done(),
          () => done(),
        )
    },
  })
}
