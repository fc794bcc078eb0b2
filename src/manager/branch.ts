import type { Environment } from '../api/handles/environment.ts'
import type { EnvironmentStatus } from '../model/environment.ts'
import type { SnapshotId } from '../model/ids.ts'
import type { LoggedCommand } from './replay/logged-command.ts'

/** The branch that every session has. */
export const mainBranch = 'main'

/** A live line of work, as `listBranches` shows it. */
export interface EnvironmentBranch {
  readonly id: string
  /** the id of its environment */
  readonly environment: string
  /** the snapshot that it continues from; null before the first */
  readonly base: string | null
  readonly status: EnvironmentStatus
  readonly current: boolean
}

/** A live line of work, and what is known of how it came to be what it is. */
export class Branch {
  readonly name: string
  readonly environment: Environment
  /** the snapshot that it continues from, physical or virtual */
  position: string | null
  /** the physical snapshot that its environment should continue from */
  head: SnapshotId | null
  /** the commands since `position` */
  log: LoggedCommand[] = []
  /** what was done other than by `execCommand` since `position`; null: nothing */
  unlogged: string | null
  /** how often something changed that is not in the log */
  changes = 0
  /** what may change something at any time, for as long as this branch lives; null: nothing */
  lasting: string | null = null
  #last: Promise<unknown> = Promise.resolve()

  constructor(name: string, environment: Environment, position: string | null) {
    this.name = name
    this.environment = environment
    this.position = position
    this.head = environment.lastInfo.head
    this.unlogged = null
  }

  /** One at a time: a snapshot never falls into the middle of a command. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work, work)
    // Whoever asked for it gets the failure; the next one only waits.
    this.#last = turn.catch(() => {})
    return turn
  }

  /** Something changed that is not in the log. */
  changed(what: string): void {
    this.unlogged = what
    this.changes += 1
  }

  /** It now is what this snapshot holds, but for changes after the first `seen`. */
  moveTo(position: string, head: SnapshotId | null, seen: number): void {
    this.position = position
    this.head = head
    this.log = []
    if (this.changes === seen) this.unlogged = null
  }
}
