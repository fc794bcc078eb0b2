import type { Environment } from '../api/handles/environment.ts'
import type { ExecOptions, ExecResult } from '../api/handles/exec-options.ts'
import { checked } from '../api/inputs/checked.ts'
import { forkCount } from '../api/inputs/environment-inputs.ts'
import { ConflictError } from '../model/errors.ts'
import { quote } from '../model/text/quote.ts'
import { type ManagerStats, statsOf } from './bench/manager-stats.ts'
import {
  type ManagerOperation,
  noteOf,
  type OperationKind,
  type OperationNote,
} from './bench/operation-log.ts'
import { type Branch, type EnvironmentBranch, mainBranch } from './branch.ts'
import { type Cleanup, cleanUp, removeBranch } from './operations/clean-up.ts'
import { forkInto, namesFor } from './operations/fork.ts'
import { forgetReplay, physicalFor, restoreBranch } from './operations/restore.ts'
import {
  type Taken,
  type TakeOptions,
  takePhysical,
  takeSnapshot,
} from './operations/take-snapshot.ts'
import { logged, whyNotLogged } from './replay/logged-command.ts'
import { branchOf, loadTree, type Session } from './session.ts'
import { formatSnapshotTree, type TreePaint } from './tree/format.ts'
import type { ManagedSnapshot } from './tree/nodes.ts'
import { findIn } from './tree/tree.ts'
import { watched } from './watched.ts'

const unfinished = 'a command did not run to its end'

/**
 * An environment with its snapshots and branches, as StateFork's managers have it. Made by
 * `createEnvManager`.
 *
 * @example
 * const manager = await createEnvManager({ method: 'waypoint_build' })
 * const ready = await manager.snapshot()
 * await manager.execCommand('./try-fix-a')
 * await manager.restore(ready)
 * await manager.cleanup()
 */
export class EnvManager implements AsyncDisposable {
  readonly #session: Session
  readonly #close: () => Promise<void>
  #isClosed = false

  /** Made by `createEnvManager`. */
  constructor(session: Session, close: () => Promise<void>) {
    this.#session = session
    this.#close = close
  }

  /** The id of the session; `waypoint_attach` finds it again by this. */
  get sessionId(): string {
    return this.#session.id
  }

  get backend(): string {
    return branchOf(this.#session, mainBranch).environment.backend
  }

  /** The branch that `execCommand`, `snapshot` and `restore` work on. */
  get currentBranch(): string {
    return this.#session.current
  }

  /** The snapshot that the current branch continues from; null before the first. */
  get currentSnapshot(): string | null {
    return this.#current.position
  }

  /**
   * The environment of a branch, for everything else: files, ports, terminals. What is changed through it
   * is not in the command log, so the next snapshot of the branch is physical.
   */
  environment(branch: string = this.currentBranch): Environment {
    const of = branchOf(this.#session, branch)
    return watched(of.environment, (what) => {
      of.changed(what)
      if (what.startsWith('ports.'))
        of.lasting = 'a port was forwarded, so that anything may change'
    })
  }

  /** Runs a command in the current branch; the shell keeps its state from one to the next. */
  async execCommand(
    command: string | readonly string[],
    options: ExecOptions = {},
  ): Promise<ExecResult> {
    return await this.execOnBranch(this.currentBranch, command, options)
  }

  /** Commands in one branch run one after the other, those in several at the same time. */
  async execOnBranch(
    branch: string,
    command: string | readonly string[],
    options: ExecOptions = {},
  ): Promise<ExecResult> {
    return await this.#inTurn('exec', branchOf(this.#session, branch), async (on) => {
      // Until it has ended well, nobody knows what it did.
      const isClean = on.unlogged === null
      if (isClean) on.unlogged = unfinished
      const result = await on.environment.exec(command, options)
      if (isClean && on.unlogged === unfinished) on.unlogged = whyNotLogged(options, result)
      if (on.unlogged === null) on.log.push(logged(command, options, result))
      return result
    })
  }

  /** Takes a snapshot of the current branch, physical or virtual as the decider says; its id. */
  async snapshot(options: TakeOptions = {}): Promise<string> {
    return (await this.takeSnapshot(options)).id
  }

  /** The same, with the kind of the snapshot and why it is of this kind. */
  async takeSnapshot(options: TakeOptions = {}): Promise<Taken> {
    return await this.#inTurn('snapshot', this.#current, async (branch, note) => {
      note.kind = 'physical'
      const taken = await takeSnapshot(this.#session, branch, options)
      note.kind = taken.kind
      note.snapshot = taken.id
      return taken
    })
  }

  /**
   * Makes the current branch what a snapshot holds, in place. A virtual one is replayed first, and every
   * command must do what it did before. If anything fails, the branch stays what it is.
   */
  async restore(snapshot: string): Promise<void> {
    await this.#inTurn('restore', this.#current, async (branch, note) => {
      note.snapshot = snapshot
      const node = await restoreBranch(this.#session, branch, snapshot)
      note.snapshot = node.id
      note.kind = node.kind
    })
  }

  /** Snapshots of the session, physical and virtual, oldest first. */
  async listSnapshots(): Promise<readonly ManagedSnapshot[]> {
    return (await loadTree(this.#session)).nodes
  }

  /** The snapshots as a tree, with the branches that continue from them, as text. */
  async printSnapshotTree(paint: TreePaint = {}): Promise<string> {
    return formatSnapshotTree(await this.listSnapshots(), await this.listBranches(), paint)
  }

  /** Makes `n` live branches of a snapshot, all or none, called `ids` if given. */
  async fork(snapshot: string, n = 1, ids?: readonly string[]): Promise<EnvironmentBranch[]> {
    const count = checked('fork', forkCount, n)
    const names = namesFor(this.#session.branches.keys(), count, ids)
    const made = await this.#session.log.time(noteOf('fork', names.join(' ')), async (note) => {
      note.snapshot = snapshot
      const tree = await loadTree(this.#session)
      const node = findIn(tree, snapshot)
      note.kind = node.kind
      note.snapshot = node.id
      const from = await physicalFor(this.#session, tree, node)
      const branches = await forkInto(this.#session, node, from, names)
      note.environment = branches[0]?.environment.id ?? ''
      return branches
    })
    return await Promise.all(made.map((branch) => this.#describe(branch)))
  }

  /** Makes another branch the current one. Nothing starts or stops. */
  checkout(branch: string): void {
    this.#session.current = branchOf(this.#session, branch).name
  }

  /** Takes a physical snapshot of a branch; its id. With `park`, as `parkBranch` does. */
  async snapshotBranch(branch: string, options: { readonly park?: boolean } = {}): Promise<string> {
    if (options.park === true) return await this.parkBranch(branch)
    return await this.#inTurn('snapshot', branchOf(this.#session, branch), (of, note) =>
      this.#takePhysical(of, note),
    )
  }

  /** Takes a physical snapshot of a branch and ends it. `fork` makes it live again. */
  async parkBranch(branch: string): Promise<string> {
    if (branch === mainBranch) throw mainStays('parked')
    return await this.#inTurn('park', branchOf(this.#session, branch), async (of, note) => {
      const id = await this.#takePhysical(of, note)
      await removeBranch(this.#session, of)
      if (this.currentBranch === branch) this.#session.current = mainBranch
      return id
    })
  }

  /** Ends a branch. What was not snapshotted is lost. */
  async discardBranch(branch: string): Promise<void> {
    const of = branchOf(this.#session, branch)
    if (branch === mainBranch) throw mainStays('discarded')
    if (branch === this.currentBranch) {
      throw new ConflictError(`branch ${quote(branch)} is the current one`, {
        remedy: 'check out another branch first',
      })
    }
    await this.#inTurn('discard', of, () => removeBranch(this.#session, of))
    await forgetReplay(this.#session, of.head)
  }

  async listBranches(): Promise<EnvironmentBranch[]> {
    return await Promise.all(
      [...this.#session.branches.values()].map((branch) => this.#describe(branch)),
    )
  }

  /** Every operation so far, oldest first, with its time. */
  get history(): readonly ManagerOperation[] {
    return this.#session.log.entries
  }

  /** Times and sizes: mean, median, min, max and p95, of each environment and of all. */
  async stats(): Promise<ManagerStats> {
    return statsOf(this.history, await this.listSnapshots())
  }

  /**
   * Removes every environment and snapshot of the session, and closes it. An environment that the manager
   * was attached to stays, with the snapshots that it needs.
   */
  async cleanup(): Promise<Cleanup> {
    const done = await cleanUp(this.#session)
    await this.close()
    return done
  }

  /** Leaves everything as it is; `waypoint_attach` continues with it. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  get #current(): Branch {
    return branchOf(this.#session, this.currentBranch)
  }

  /** Does something to a branch when its turn comes, and times it from there. */
  #inTurn<T>(
    operation: OperationKind,
    branch: Branch,
    work: (branch: Branch, note: OperationNote) => Promise<T>,
  ): Promise<T> {
    const note = noteOf(operation, branch.name, branch.environment.id)
    return branch.inTurn(() => this.#session.log.time(note, () => work(branch, note)))
  }

  async #takePhysical(branch: Branch, note: OperationNote): Promise<string> {
    note.kind = 'physical'
    note.snapshot = await takePhysical(this.#session, branch)
    return note.snapshot
  }

  async #describe({ name, environment, position }: Branch): Promise<EnvironmentBranch> {
    const { status } = await environment.info()
    const current = name === this.currentBranch
    return { id: name, environment: environment.id, base: position, status, current }
  }
}

function mainStays(how: string): ConflictError {
  return new ConflictError(`the branch ${mainBranch} cannot be ${how}`, {
    remedy: 'cleanup() ends it together with the session',
  })
}
