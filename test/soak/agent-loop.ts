// An agent's loop: steps of work, a snapshot every second, forks and restores in between. After each step the
// environment is compared with a model of every file, every row and what the server remembers.
import { expect } from 'vitest'
import type { Environment, Snapshot } from '../../src/index.ts'
import type { Random } from '../fuzz/random.ts'
import type { Model } from './model.ts'
import { look, startProject, steps } from './project.ts'

interface Kept {
  readonly snapshot: Snapshot
  readonly model: Model
}

/** What was done, for the message of a failure and to see that everything came to pass. */
export interface Done {
  readonly steps: string[]
  snapshots: number
  underWork: number
  forks: number
  restores: number
}

const betweenSnapshotsMs = 1_000
/** so that a restore goes back some steps, and not to the beginning */
const mostKept = 8

export class AgentLoop {
  readonly done: Done = { steps: [], snapshots: 0, underWork: 0, forks: 0, restores: 0 }
  readonly #env: Environment
  readonly #random: Random
  readonly #kept: Kept[] = []
  #model: Model
  #lastSnapshot = 0

  private constructor(env: Environment, random: Random, model: Model) {
    this.#env = env
    this.#random = random
    this.#model = model
  }

  static async start(env: Environment, random: Random): Promise<AgentLoop> {
    return new AgentLoop(env, random, await startProject(env))
  }

  async turn(): Promise<void> {
    if (Date.now() - this.#lastSnapshot >= betweenSnapshotsMs) await this.#snapshot()
    const [name, step] = this.#random.pick(Object.entries(steps))
    this.done.steps.push(name)
    await step(this.#env, this.#model, this.#random)
    await this.#compare(this.#env, this.#model)
    if (this.#kept.length === 0) return
    if (this.#random.chance(0.06)) await this.#fork()
    if (this.#random.chance(0.06)) await this.#restore()
  }

  async #snapshot(): Promise<void> {
    this.#lastSnapshot = Date.now()
    if (this.#random.chance(0.4)) return await this.#snapshotUnderWork()
    this.#kept.push({ snapshot: await this.#env.snapshot(), model: this.#model.copy() })
    if (this.#kept.length > mostKept) this.#kept.shift()
    this.done.snapshots += 1
  }

  /** In the middle of a build: what it holds is not known, but the environment must not care. */
  async #snapshotUnderWork(): Promise<void> {
    this.done.steps.push('build under a snapshot')
    const { build } = steps
    await Promise.all([build?.(this.#env, this.#model, this.#random), this.#env.snapshot()])
    this.done.snapshots += 1
    this.done.underWork += 1
    await this.#compare(this.#env, this.#model)
  }

  async #fork(): Promise<void> {
    const { snapshot, model } = this.#random.pick(this.#kept)
    this.done.steps.push('fork')
    const forks = await snapshot.fork(1)
    for (const fork of forks) {
      await this.#compare(fork, model)
      // A fork goes its own way, which nobody else may see.
      const own = model.copy()
      await steps.request?.(fork, own, this.#random)
      await steps.store?.(fork, own, this.#random)
      await this.#compare(fork, own)
      await fork.remove({ force: true })
    }
    this.done.forks += 1
  }

  async #restore(): Promise<void> {
    const { snapshot, model } = this.#random.pick(this.#kept)
    this.done.steps.push('restore')
    await this.#env.restore(snapshot)
    this.#model = model.copy()
    await this.#compare(this.#env, this.#model)
    this.done.restores += 1
  }

  async #compare(env: Environment, model: Model): Promise<void> {
    const last = this.done.steps.slice(-12).join(', ')
    expect(await look(env), `after ${last}`).toBe(model.describe())
  }
}
