import { closeSync, constants, openSync } from 'node:fs'
import { within } from '../../../agent/files/host-path.ts'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants

/** A tree may be deeper than the number of files that a process can have open. */
const mostOpen = 512

/**
 * The directories that lead to one, each in the one before. The last ones are held open. Those further
 * up are opened again when needed, step by step and without following symlinks.
 */
export class OpenLevels {
  readonly #root: number
  readonly #levels: { readonly name: string; fd: number | null }[] = []

  constructor(root: number) {
    this.#root = root
  }

  get names(): readonly string[] {
    return this.#levels.map(({ name }) => name)
  }

  get depth(): number {
    return this.#levels.length
  }

  /** How many of these names, from the top, match the current directories. */
  shared(names: readonly string[]): number {
    const at = this.#levels.findIndex(({ name }, depth) => names[depth] !== name)
    return at < 0 ? this.#levels.length : at
  }

  /** Enters an existing directory. */
  enter(name: string): void {
    const fd = openBelow(this.last(), name)
    this.#levels.push({ name, fd })
    this.#close(this.#levels.length - 1 - mostOpen)
  }

  /** The descriptor of the last directory. */
  last(): number {
    const end = this.#levels.length - 1
    const last = this.#levels[end]
    if (last === undefined) return this.#root
    return last.fd ?? this.#reopen()
  }

  leave(): void {
    this.#close(this.#levels.length - 1)
    this.#levels.pop()
  }

  closeAll(): void {
    while (this.depth > 0) this.leave()
  }

  #reopen(): number {
    let at = this.#root
    for (const [depth, level] of this.#levels.entries()) {
      level.fd ??= openBelow(at, level.name)
      at = level.fd
      this.#close(depth - mostOpen)
    }
    return at
  }

  #close(depth: number): void {
    const level = this.#levels[depth]
    if (level === undefined || level.fd === null) return
    closeSync(level.fd)
    level.fd = null
  }
}

function openBelow(directory: number, name: string): number {
  return openSync(within({ fd: directory }, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
}
