import type { CommandResult } from '../../../agent/commands/commands.ts'
import type { Command } from '../../../api/handles/command.ts'
import type { Environment } from '../../../api/handles/environment.ts'
import { ConflictError } from '../../../model/errors.ts'

type StreamName = 'stdout' | 'stderr'

/** Takes output, at its own pace. */
type Take = (name: StreamName, chunk: Buffer) => Promise<void>

interface Reader {
  readonly take: Take
  /** how many bytes of each it has got */
  readonly taken: Record<StreamName, number>
  readonly ended: PromiseWithResolvers<CommandResult>
}

/**
 * The commands that clients follow. A command has one connection for its output, which the last to attach
 * takes over, so all clients of one share it here.
 */
export class Followers {
  readonly #all = new Map<string, Follower>()

  /** Output of a command that was just started. */
  async started(
    environment: Environment,
    command: Command,
    reader: NewReader,
  ): Promise<CommandResult> {
    return await this.#follow(environment, command.id, reader, (follower) =>
      follower.begin(command),
    )
  }

  /** Output of a command from the beginning, as far as the agent still has it. */
  async joined(environment: Environment, id: string, reader: NewReader): Promise<CommandResult> {
    return await this.#follow(environment, id, reader, async (follower) => {
      follower.leave()
      follower.begin(await environment.command(id))
    })
  }

  /** Does something to a command, without taking its output from anybody. */
  async with(
    environment: Environment,
    id: string,
    work: (command: Command) => Promise<void>,
  ): Promise<void> {
    const followed = this.#all.get(keyOf(environment, id))?.command
    if (followed) return await work(followed)
    const command = await environment.command(id)
    try {
      await work(command)
    } finally {
      command.detach()
    }
  }

  async #follow(
    environment: Environment,
    id: string,
    { take, signal }: NewReader,
    begin: (follower: Follower) => void | Promise<void>,
  ): Promise<CommandResult> {
    const key = keyOf(environment, id)
    const follower = this.#all.get(key) ?? new Follower()
    this.#all.set(key, follower)
    const reader = {
      take,
      taken: { stdout: 0, stderr: 0 },
      ended: Promise.withResolvers<CommandResult>(),
    }
    reader.ended.promise.catch(() => {})
    follower.readers.add(reader)
    const leave = () => {
      follower.readers.delete(reader)
      reader.ended.reject(left(id))
      if (follower.readers.size > 0) return
      follower.leave()
      if (this.#all.get(key) === follower) this.#all.delete(key)
    }
    signal.addEventListener('abort', leave, { once: true })
    try {
      await follower.inTurn(() => begin(follower))
      return await reader.ended.promise
    } finally {
      leave()
    }
  }
}

interface NewReader {
  readonly take: Take
  /** the client hung up */
  readonly signal: AbortSignal
}

/** One command, and everybody who reads its output. */
class Follower {
  readonly readers = new Set<Reader>()
  #command: Command | null = null
  #last: Promise<void> = Promise.resolve()

  get command(): Command | null {
    return this.#command
  }

  /** Two who join at once would take the command's output from each other. */
  async inTurn(work: () => void | Promise<void>): Promise<void> {
    const before = this.#last
    const own = Promise.withResolvers<void>()
    this.#last = own.promise
    await before
    try {
      await work()
    } catch (error) {
      this.#end((reader) => reader.ended.reject(error))
    } finally {
      own.resolve()
    }
  }

  begin(command: Command): void {
    this.#command = command
    void this.#read(command)
  }

  leave(): void {
    const command = this.#command
    this.#command = null
    command?.detach()
  }

  async #read(command: Command): Promise<void> {
    try {
      const relay = (name: StreamName) => this.#relay(command, name)
      const [result] = await Promise.all([command.wait(), relay('stdout'), relay('stderr')])
      this.#end(({ ended }) => ended.resolve(result))
    } catch (error) {
      // Somebody joined, and everybody reads from the next handle.
      if (this.#command !== command) return
      this.#end(({ ended }) => ended.reject(error))
    }
  }

  #end(tell: (reader: Reader) => void): void {
    for (const reader of this.readers) tell(reader)
  }

  /** Each reader gets what it has not got yet: whoever joined makes all of it come again. */
  async #relay(command: Command, name: StreamName): Promise<void> {
    let end = command.offsets[name]
    for await (const chunk of command[name]) {
      const begin = end
      end += chunk.length
      const taking = [...this.readers].flatMap(({ taken, take }) => {
        const from = Math.max(taken[name], begin)
        if (from >= end) return []
        taken[name] = end
        return [take(name, chunk.subarray(from - begin))]
      })
      await Promise.all(taking)
    }
  }
}

function keyOf({ id }: Environment, command: string): string {
  return `${id}/${command}`
}

function left(id: string): ConflictError {
  return new ConflictError(`nobody follows command ${id} any more`, { remedy: 'connect to it' })
}
