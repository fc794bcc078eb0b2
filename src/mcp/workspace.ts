import type { Environment } from '../api/handles/environment.ts'
import type { CreateOptions, ForkpointHandle } from '../api/handles/forkpoint.ts'
import type { Snapshot } from '../api/handles/snapshot.ts'
import { BackendError, NotFoundError, PermissionError, ResourceError } from '../model/errors.ts'
import { toSourceRequest } from '../model/source.ts'
import { quote } from '../model/text/quote.ts'
import type { McpOptions } from './options.ts'
import { Followers } from './output/followers.ts'

type Labels = Readonly<Record<string, string>>

/** What one session of a client reaches, and what it made. Every tool goes through it. */
export class Workspace implements Disposable {
  readonly forkpoint: ForkpointHandle
  readonly options: McpOptions
  readonly followers = new Followers()
  /** environments of this session that may still live */
  readonly #environments = new Set<string>()
  readonly #snapshots = new Set<string>()
  /** environments that are being made */
  #pending = 0

  constructor(forkpoint: ForkpointHandle, options: McpOptions) {
    this.forkpoint = forkpoint
    this.options = options
  }

  get labels(): Labels {
    return this.options.labels
  }

  async environment(reference: string): Promise<Environment> {
    const found = await this.forkpoint.get(reference)
    if (this.#carries(found.lastInfo.labels)) return found
    throw missing('environment', reference)
  }

  async snapshot(reference: string): Promise<Snapshot> {
    const found = await this.forkpoint.snapshot(reference)
    if (await this.#reaches(found)) return found
    throw missing('snapshot', reference)
  }

  async find(reference: string): Promise<Environment | Snapshot> {
    const found = await this.forkpoint.find(reference)
    const isReached =
      found.kind === 'environment'
        ? this.#carries(found.lastInfo.labels)
        : await this.#reaches(found)
    if (isReached) return found
    throw missing('environment or snapshot', reference)
  }

  async environments(): Promise<Environment[]> {
    return await this.forkpoint.list({ labels: this.labels })
  }

  async snapshots(): Promise<Snapshot[]> {
    const all = await this.forkpoint.snapshots()
    if (Object.keys(this.labels).length === 0) return all
    const ids = new Set((await this.environments()).map(({ id }) => id))
    return all.filter(
      ({ lastInfo }) => this.#carries(lastInfo.labels) || ids.has(lastInfo.environmentId),
    )
  }

  /** Makes an environment. Its source may be a snapshot, but only one in reach. */
  async create(options: CreateOptions): Promise<Environment> {
    const source = toSourceRequest(options.from)
    // What was checked is what is used, whatever its name means later.
    const from =
      source?.kind === 'snapshot'
        ? { from: { kind: 'snapshot' as const, id: (await this.snapshot(source.id)).id } }
        : {}
    const labels = { ...this.labels }
    const [made] = await this.making(1, async () => [
      await this.forkpoint.create({ ...options, ...from, labels }),
    ])
    if (made === undefined) throw new BackendError('no environment was made', {})
    return made
  }

  /** Makes environments, if as many more may live. */
  async making(count: number, make: () => Promise<readonly Environment[]>): Promise<Environment[]> {
    await this.requireRoom(count)
    this.#pending += count
    try {
      const made = await make()
      for (const { id } of made) this.#environments.add(id)
      return [...made]
    } finally {
      this.#pending -= count
    }
  }

  /** Takes a snapshot of this session's own. */
  async taking(
    environment: Environment,
    options: { readonly name?: string; readonly message?: string; readonly signal?: AbortSignal },
  ): Promise<Snapshot> {
    const taken = await environment.snapshot({ ...options, labels: { ...this.labels } })
    this.#snapshots.add(taken.id)
    return taken
  }

  owns({ id }: Environment | Snapshot): boolean {
    return this.#environments.has(id) || this.#snapshots.has(id)
  }

  requireRemovable(of: Environment | Snapshot): void {
    if (this.options.removes === 'any' || this.owns(of)) return
    throw new PermissionError(`this session did not make ${of.kind} ${of.id}`, {
      remedy: 'leave it, or start the server with `--remove any`',
    })
  }

  /** Removes an environment that `requireRemovable` has let pass. */
  async remove(environment: Environment): Promise<void> {
    this.followers.leaveAll(environment.id)
    await environment.remove()
    this.#environments.delete(environment.id)
  }

  [Symbol.dispose](): void {
    this.followers[Symbol.dispose]()
  }

  /** Throws unless `count` more environments may live. */
  async requireRoom(count: number): Promise<void> {
    const { limit } = this.options
    if (this.#environments.size + this.#pending + count <= limit) return
    // Others may have removed some, and so may policies.
    const alive = new Set<string>((await this.forkpoint.list()).map(({ id }) => id))
    for (const id of this.#environments) if (!alive.has(id)) this.#environments.delete(id)
    const living = this.#environments.size + this.#pending
    if (living + count <= limit) return
    throw new ResourceError(
      `${living} environments of this session live, and ${count} more would exceed ${limit}`,
      { remedy: 'remove some that you do not need any more' },
    )
  }

  async #reaches({ lastInfo }: Snapshot): Promise<boolean> {
    if (this.#carries(lastInfo.labels)) return true
    return (await this.environments()).some(({ id }) => id === lastInfo.environmentId)
  }

  #carries(labels: Labels): boolean {
    return Object.entries(this.labels).every(([key, value]) => labels[key] === value)
  }
}

function missing(what: string, reference: string): NotFoundError {
  return new NotFoundError(`no ${what} ${quote(reference)}`, {
    remedy: 'list what there is; this session only sees what carries its labels',
  })
}
