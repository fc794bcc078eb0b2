import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Tools } from '../../../../linux/tools.ts'
import type { Log } from '../../../../model/log.ts'
import { deleteSubvolumes } from './subvolumes.ts'

/** Also in native/cell/subvolumes/ahead.c. */
const suffix = '.ahead'
/** Each takes some metadata, and most snapshots are never copied. */
const mostKept = 4
/** Longer than the pauses between operations that follow each other. */
const restMs = 100

/**
 * Copies of snapshots that are made before anybody needs them: making one waits for the disk (measured: 2 to
 * 6 ms of the 35 that a fork takes), taking one does not.
 */
export class CopiesAhead implements Disposable {
  readonly #tools: Tools
  readonly #log: Log
  readonly #timers = new Map<string, NodeJS.Timeout>()

  constructor(tools: Tools, log: Log) {
    this.#tools = tools
    this.#log = log
  }

  /** Makes one in a moment, if this process lives that long. */
  want(snapshot: string): void {
    if (this.#timers.has(snapshot)) return
    const timer = setTimeout(() => {
      this.#timers.delete(snapshot)
      void this.#make(snapshot)
    }, restMs)
    this.#timers.set(snapshot, timer.unref())
  }

  /** If it fails, for example because the snapshot was removed, the next copy is made when it is needed. */
  async #make(snapshot: string): Promise<void> {
    try {
      await this.#tools.runCell('copying a snapshot ahead', ['subvolume-ahead', snapshot])
      await this.#dropOldest(join(snapshot, '..'))
    } catch (err) {
      this.#log.debug({ err, snapshot }, 'no copy of a snapshot was made ahead')
    }
  }

  async #dropOldest(directory: string): Promise<void> {
    // Not with readdirSync: while btrfs writes, it took 6 ms, and other operations would wait.
    const names = (await readdir(directory)).filter((name) => name.endsWith(suffix))
    if (names.length <= mostKept) return
    const paths = names.map((name) => join(directory, name))
    const aged = await Promise.all(
      paths.map(async (path) => ({ path, changedMs: (await stat(path)).ctimeMs })),
    )
    const oldest = aged.toSorted((a, b) => a.changedMs - b.changedMs).slice(0, -mostKept)
    await deleteSubvolumes(
      this.#tools,
      oldest.map(({ path }) => path),
    )
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
  }
}
