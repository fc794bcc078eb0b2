import type { Command } from '../../api/handles/command.ts'

/** A session follows no more commands than this at once. */
const mostCommands = 64

/**
 * Commands that run in the background of a session. Their output is taken from them, so that they never
 * wait for a reader; the agent keeps the last of it for `read_command`.
 */
export class Followers implements Disposable {
  readonly #followed = new Map<string, Command>()

  follow(environment: string, command: Command): void {
    const key = keyOf(environment, command.id)
    this.leave(environment, command.id)
    this.#followed.set(key, command)
    command.stdout.discard()
    command.stderr.discard()
    const forget = () => {
      if (this.#followed.get(key) === command) this.#followed.delete(key)
    }
    // It ends, or its environment does, or it is left: nobody waits for it here.
    command.wait().then(forget, forget)
    const [oldest] = this.#followed
    if (this.#followed.size > mostCommands && oldest !== undefined) this.#drop(oldest[0])
  }

  /** Whether it was followed. */
  leave(environment: string, id: string): boolean {
    return this.#drop(keyOf(environment, id))
  }

  leaveAll(environment: string): void {
    for (const key of this.#followed.keys()) {
      if (key.startsWith(keyOf(environment, ''))) this.#drop(key)
    }
  }

  [Symbol.dispose](): void {
    for (const key of this.#followed.keys()) this.#drop(key)
  }

  #drop(key: string): boolean {
    const command = this.#followed.get(key)
    this.#followed.delete(key)
    command?.detach()
    return command !== undefined
  }
}

function keyOf(environment: string, command: string): string {
  return `${environment} ${command}`
}
