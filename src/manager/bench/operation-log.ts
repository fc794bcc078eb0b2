import { appendFile } from 'node:fs/promises'
import { InvalidInputError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'
import type { CostModel } from '../decide/cost.ts'
import type { SnapshotKind } from '../decide/decider.ts'

export type OperationKind = 'create' | 'exec' | 'snapshot' | 'restore' | 'fork' | 'park' | 'discard'

/** One operation of a manager. */
export interface ManagerOperation {
  readonly operation: OperationKind
  /** of the snapshot that it took, restored or forked; null if it has nothing to do with one */
  readonly kind: SnapshotKind | null
  readonly branch: string
  readonly environment: string
  readonly snapshot: string | null
  /** milliseconds since 1970 */
  readonly at: number
  readonly ms: number
  readonly outcome: 'done' | 'failed'
}

/** What is known of an operation; its work adds what it learns. */
export interface OperationNote {
  readonly operation: OperationKind
  readonly branch: string
  environment: string
  kind: SnapshotKind | null
  snapshot: string | null
}

export function noteOf(operation: OperationKind, branch: string, environment = ''): OperationNote {
  return { operation, branch, environment, kind: null, snapshot: null }
}

/** Every operation of a session, in order; with a path, also as lines of JSON in that file. */
export class OperationLog {
  readonly #entries: ManagerOperation[] = []
  readonly #path: string | undefined

  private constructor(path: string | undefined) {
    this.#path = path
  }

  /** Fails now if the file cannot be written, and not after an operation that succeeded. */
  static async open(path?: string): Promise<OperationLog> {
    if (path === undefined) return new OperationLog(path)
    try {
      await appendFile(path, '')
    } catch (error) {
      throw new InvalidInputError(`cannot write the benchmark log to ${quote(path)}`, {
        remedy: 'give a file in a directory that exists',
        cause: error,
      })
    }
    return new OperationLog(path)
  }

  get entries(): readonly ManagerOperation[] {
    return this.#entries
  }

  /** Times `work` and adds what is noted when it is over. */
  async time<T>(note: OperationNote, work: (note: OperationNote) => Promise<T>): Promise<T> {
    const at = Date.now()
    const startedAt = performance.now()
    const add = (outcome: ManagerOperation['outcome']) =>
      this.#add({ ...note, at, ms: performance.now() - startedAt, outcome })
    let result: T
    try {
      result = await work(note)
    } catch (error) {
      await add('failed')
      throw error
    }
    await add('done')
    return result
  }

  async #add(entry: ManagerOperation): Promise<void> {
    this.#entries.push(entry)
    if (this.#path === undefined) return
    try {
      await appendFile(this.#path, `${JSON.stringify(entry)}\n`)
    } catch (error) {
      // The operation itself is over, so it must not seem to have failed.
      process.emitWarning(`cannot write to the benchmark log ${quote(this.#path)}: ${error}`)
    }
  }
}

/** What deciders know about cost. */
export function costModelOf(entries: readonly ManagerOperation[]): CostModel {
  const done = entries.filter(({ outcome }) => outcome === 'done')
  const physical = (...wanted: OperationKind[]) =>
    done
      .filter(({ operation, kind }) => kind === 'physical' && wanted.includes(operation))
      .map(({ ms }) => ms)
  const count = (...wanted: OperationKind[]) =>
    done.filter(({ operation }) => wanted.includes(operation)).length
  return {
    snapshotMs: physical('snapshot', 'park'),
    restoreMs: physical('restore'),
    forkMs: physical('fork'),
    snapshots: count('snapshot', 'park'),
    returns: count('restore', 'fork'),
  }
}
