import type {
  CommandHandle,
  CommandOffsets,
  CommandOutput,
  CommandResult,
} from '../../agent/commands/commands.ts'
import { ConflictError } from '../../model/errors.ts'
import { checked } from '../inputs/checked.ts'
import { chunk } from '../inputs/data.ts'
import { word } from '../inputs/values.ts'
import { Followed } from './follow.ts'

type StreamName = keyof CommandOffsets

/** Attaches to a command again after the connection broke. */
type Attach = (id: string, offsets: CommandOffsets) => Promise<CommandHandle>

/**
 * A command that runs, or ran, inside. The handle follows it across snapshots and lost connections: all
 * output arrives in order, and `wait` resolves when the command ends.
 *
 * @example
 * const build = await env.spawn('make -j4')
 * for await (const chunk of build.stdout) process.stdout.write(chunk)
 * const { exitCode } = await build.wait()
 */
export class Command {
  readonly id: string
  readonly stdout: CommandOutput
  readonly stderr: CommandOutput
  readonly #followed: Followed<CommandHandle>
  readonly #discarded = new Set<StreamName>()
  #last: CommandHandle

  /** Made by `env.spawn` and `env.command`. */
  constructor(first: CommandHandle, attach: Attach) {
    this.id = first.id
    this.#last = first
    this.#followed = new Followed(first, async (before) => {
      const next = await attach(this.id, before.offsets)
      for (const name of this.#discarded) next[name].discard()
      this.#last = next
      return next
    })
    this.stdout = this.#output('stdout')
    this.stderr = this.#output('stderr')
  }

  /** The process id, as seen inside. */
  get pid(): Promise<number> {
    return this.#followed.with(({ pid }) => pid)
  }

  /** How much has been read; `env.command(id, offsets)` continues from here. */
  get offsets(): CommandOffsets {
    return this.#last.offsets
  }

  /**
   * Feeds a command that was started with `stdin: 'streamed'`. Rejects if the connection breaks
   * meanwhile, because nobody knows then how much of the data arrived.
   */
  async writeStdin(data: Buffer | string): Promise<void> {
    const bytes = checked('writeStdin', chunk, data)
    await this.#followed.once((command) => command.writeStdin(bytes))
  }

  async endStdin(): Promise<void> {
    await this.#followed.once((command) => command.endStdin())
  }

  async signal(signal: NodeJS.Signals): Promise<void> {
    const name = checked('signal', word, signal) as NodeJS.Signals
    await this.#followed.with((command) => command.signal(name))
  }

  /** Resolves when the command has ended and somebody has read, or discarded, all of its output. */
  wait(): Promise<CommandResult> {
    return this.#followed.with((command) => command.wait())
  }

  /** Leaves the command running. Whoever waits for it here fails with `reason`. */
  detach(reason: Error = left(this.id)): void {
    this.#followed.leave(reason)
    this.#last.detach(reason)
  }

  #output(name: StreamName): CommandOutput {
    const read = () => this.#followed.with((command) => command[name].read())
    return {
      read,
      discard: () => {
        this.#discarded.add(name)
        this.#last[name].discard()
      },
      async *[Symbol.asyncIterator]() {
        for (let bytes = await read(); bytes !== null; bytes = await read()) yield bytes
      },
    }
  }
}

function left(id: string): ConflictError {
  return new ConflictError(`this handle no longer follows command ${id}`, {
    remedy: `attach to it again with \`env.command(${JSON.stringify(id)})\``,
  })
}
