import { randomBytes } from 'node:crypto'
import type { CreateOptions, Environment, Forkpoint, Snapshot } from '../../index.ts'

/** Everything the quickstart creates, under free names. It is removed again whatever happens. */
export class Stage implements AsyncDisposable {
  readonly name: string
  readonly #forkpoint: Forkpoint
  readonly #environments: Environment[] = []

  private constructor(forkpoint: Forkpoint, name: string) {
    this.#forkpoint = forkpoint
    this.name = name
  }

  static async open(forkpoint: Forkpoint): Promise<Stage> {
    const all = [...(await forkpoint.list()), ...(await forkpoint.snapshots())]
    const taken = all.map(({ name }) => name ?? '')
    const isFree = (name: string) => !taken.some((other) => other.startsWith(name))
    const name = isFree('demo') ? 'demo' : `demo-${randomBytes(2).toString('hex')}`
    return new Stage(forkpoint, name)
  }

  get #ours(): ReadonlySet<string> {
    return new Set(this.#environments.map(({ id }) => id))
  }

  get environments(): readonly Environment[] {
    return this.#environments
  }

  async create(options: CreateOptions): Promise<Environment> {
    const [environment] = this.add([await this.#forkpoint.create(options)])
    if (environment === undefined) throw new Error('nothing was created')
    return environment
  }

  /** Removes these at the end, too. */
  add(environments: readonly Environment[]): readonly Environment[] {
    this.#environments.push(...environments)
    return environments
  }

  /** Snapshots of the environments here, whichever operation took them. */
  async snapshots(): Promise<Snapshot[]> {
    const all = await this.#forkpoint.snapshots()
    return all.filter(({ lastInfo: info }) => this.#ours.has(info.environmentId))
  }

  async removeEnvironments(): Promise<void> {
    for (const environment of this.#environments) await environment.remove()
  }

  async removeSnapshots(): Promise<void> {
    const ids = (await this.snapshots()).map(({ id }) => id)
    if (ids.length > 0) await this.#forkpoint.removeSnapshots(ids)
  }

  /** The tour may have already removed them; removing twice is harmless. */
  async [Symbol.asyncDispose](): Promise<void> {
    // One that cannot be removed does not stop the rest.
    const removals = this.#environments.map((environment) => environment.remove())
    const failed = (await Promise.allSettled(removals)).find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
    await this.removeSnapshots()
  }
}
