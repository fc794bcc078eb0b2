import { writeSync } from 'node:fs'
import type { ReadStream, WriteStream } from 'node:tty'
import { InvalidInputError } from '../../model/errors.ts'
import { write } from '../write.ts'
import { TerminalModes } from './terminal-modes.ts'

const stdoutFd = 1

interface Size {
  readonly cols: number
  readonly rows: number
}

/** The terminal that the user sits at, in raw mode until this is disposed of. */
export class OwnTerminal implements Disposable {
  readonly #stdin: ReadStream
  readonly #stdout: WriteStream
  readonly #modes = new TerminalModes()
  readonly #onExit = () => this[Symbol.dispose]()
  #isRaw = true

  private constructor(stdin: ReadStream, stdout: WriteStream) {
    this.#stdin = stdin
    this.#stdout = stdout
    stdin.setRawMode(true)
    // Also if the process ends without disposing of this.
    process.once('exit', this.#onExit)
  }

  static take(): OwnTerminal {
    const { stdin, stdout } = process
    if (stdin.isTTY && stdout.isTTY) return new OwnTerminal(stdin, stdout)
    throw new InvalidInputError('`shell` needs a terminal, and stdin or stdout is not one', {
      remedy: 'run it in a terminal, or run commands with `forkpoint exec`',
    })
  }

  get size(): Size {
    // A terminal that never got a size, as over a serial line, reports 0.
    return { cols: this.#stdout.columns || 80, rows: this.#stdout.rows || 24 }
  }

  /** Calls the listener with each piece of input, until disposed of. The next piece waits for its promise. */
  onTyped(listener: (data: Buffer) => Promise<void>): Disposable {
    let last = Promise.resolve()
    let isOn = true
    const onData = (data: Buffer) => {
      this.#stdin.pause()
      last = last
        .then(() => listener(data))
        .finally(() => {
          // Without a listener, input would be read and lost.
          if (isOn) this.#stdin.resume()
        })
    }
    this.#stdin.on('data', onData)
    this.#stdin.resume()
    return {
      [Symbol.dispose]: () => {
        isOn = false
        this.#stdin.off('data', onData)
        this.#stdin.pause()
      },
    }
  }

  onResize(listener: (size: Size) => void): Disposable {
    const onResize = () => listener(this.size)
    this.#stdout.on('resize', onResize)
    return { [Symbol.dispose]: () => this.#stdout.off('resize', onResize) }
  }

  async show(chunk: Buffer): Promise<void> {
    this.#modes.follow(chunk)
    await write(this.#stdout, chunk)
  }

  /** An empty screen in its plain state, ready for a replay. */
  async clear(): Promise<void> {
    await write(this.#stdout, `${this.#modes.undo()}\u001b[H\u001b[2J`)
  }

  [Symbol.dispose](): void {
    if (!this.#isRaw) return
    this.#isRaw = false
    process.off('exit', this.#onExit)
    try {
      // Synchronously: at exit nothing else gets written.
      writeSync(stdoutFd, this.#modes.undo())
      this.#stdin.setRawMode(false)
    } catch {
      // The terminal itself is gone, and its modes with it.
    }
    this.#stdin.pause()
    this.#stdin.unref()
  }
}
